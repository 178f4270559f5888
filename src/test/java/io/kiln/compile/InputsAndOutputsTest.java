// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import io.kiln.ir.Function;
import io.kiln.ir.Result;
import io.kiln.reference.Interpreter;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;

/** Inputs that nothing reads, outputs that no operator computes, and tensors without elements; all models in one program. */
class InputsAndOutputsTest {
    private static final Options ALONG_0 =
            Options.table(BuiltinOptions.ConcatenationOptions, Field.int32(0, 0), Field.int8(1, 0));

    private static final List<Optimize> FAVOURED = List.of(Optimize.values());

    @TempDir
    private Path folder;

    private final List<ModelMetadata> models = new ArrayList<>();
    private final List<List<Artifact>> artifacts = new ArrayList<>();
    private final List<Bytes> inputs = new ArrayList<>();
    private final ByteArrayOutputStream expected = new ByteArrayOutputStream();

    /** Tensors and operators of a small model. */
    private static final class Net {
        private final TfliteModelBuilder model = new TfliteModelBuilder();
        private int count;

        private int tensor(int size) {
            return model.tensor(TensorSpec.int8("t" + count++, 0.5f, 3, size));
        }

        private int constant() {
            return model.tensor(TensorSpec.int8("t" + count++, 0.5f, 3, 3).withData(new byte[] {-7, 0, 5}));
        }

        private int emit(int builtin, Options options, int size, int... in) {
            int y = tensor(size);
            model.operator(builtin, builtin == BuiltinOperator.RESHAPE ? 1 : 2, options, in, y);
            return y;
        }

        private int relu(int x, int size) {
            return emit(BuiltinOperator.RELU, Options.none(), size, x);
        }

        private int slice(int x, int begin, int size) {
            int first = model.tensor(TensorSpec.int32("t" + count++, begin));
            int sizes = model.tensor(TensorSpec.int32("t" + count++, size));
            return emit(BuiltinOperator.SLICE, Options.none(), size, x, first, sizes);
        }
    }

    private static List<Consumer<Net>> nets() {
        return List.of(
                n -> n.model.inputs(n.tensor(5), n.tensor(4), n.tensor(3)).outputs(n.relu(1, 4)),
                n -> {
                    int x = n.tensor(4);
                    int dead = n.tensor(6);
                    n.relu(n.relu(dead, 6), 6);
                    n.model.inputs(x, dead).outputs(n.relu(x, 4));
                },
                n -> {
                    int x = n.tensor(4);
                    n.model.inputs(x).outputs(x, n.relu(x, 4), x);
                },
                n -> {
                    int x = n.tensor(4);
                    int c = n.constant();
                    n.model.inputs(x).outputs(c, n.relu(x, 4), c, n.relu(c, 3));
                },
                n -> {
                    int x = n.tensor(4);
                    int y = n.relu(x, 4);
                    n.model.inputs(x).outputs(y, y, n.relu(y, 4), y);
                },
                InputsAndOutputsTest::reshapedTwice,
                InputsAndOutputsTest::emptyParts,
                n -> {
                    int unread = n.tensor(7);
                    n.relu(unread, 7);
                    n.model.inputs(unread).outputs(n.constant());
                });
    }

    private static void reshapedTwice(Net n) {
        int x = n.tensor(4);
        int shape = n.model.tensor(TensorSpec.int32("shape", 4));
        int y = n.emit(BuiltinOperator.RESHAPE, Options.none(), 4, x, shape);
        n.model.inputs(x, n.tensor(2)).outputs(y, n.emit(BuiltinOperator.RESHAPE, Options.none(), 4, y, shape));
    }

    private static void emptyParts(Net n) {
        int x = n.tensor(4);
        int none = n.slice(x, 2, 0);
        int still = n.relu(none, 0);
        int joined = n.emit(BuiltinOperator.CONCATENATION, ALONG_0, 4, none, x, still);
        n.model.inputs(x).outputs(n.relu(joined, 4));
    }

    private void add(Function function, Io io, Optimize optimize, long seed) {
        CompileRequest request = RequestDraft.of(Path.of("net"), "c -keys=cpu -model=host")
                .name(function.name())
                .io(io)
                .optimize(optimize)
                .build();
        CompiledModel compiled = ModelCompiler.compile(request, function);
        models.add(compiled.library().metadata());
        artifacts.add(compiled.library().artifacts().artifacts());
        List<Bytes> own = new ArrayList<>();
        Random random = new Random(seed);
        function.params().forEach(parameter -> {
            byte[] data = new byte[(int) parameter.type().bytes()];
            random.nextBytes(data);
            own.add(Bytes.wrap(data));
        });
        inputs.addAll(own);
        Interpreter.run(function, own).forEach(result -> expected.writeBytes(result.toArray()));
    }

    @Test
    void bothWaysToOwnThemGiveTheInterpretersAnswers() {
        for (Consumer<Net> net : nets()) {
            for (Io io : Io.values()) {
                Optimize optimize = FAVOURED.get(models.size() / 2 % FAVOURED.size());
                Net drawn = new Net();
                net.accept(drawn);
                add(drawn.model.read("net" + models.size()), io, optimize, models.size());
            }
        }
        assertThat(models).hasSize(2 * nets().size());
        assertThat(HostProgram.build(folder, models, artifacts).run(inputs))
                .isEqualTo(Bytes.wrap(expected.toByteArray()));
    }

    @Test
    void copiesHaveNamesOfTheirOwn() {
        Net net = new Net();
        int x = net.tensor(4);
        net.model.inputs(x).outputs(x, net.relu(x, 4), x);
        assertThat(net.model.read().results()).extracting(Result::name).containsExactly("t0_2", "t1", "t0_3");
    }
}
