// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.relay.RelayFrontend;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.reference.Interpreter;
import io.kiln.target.TestTargets;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.io.TempDir;

/** Reads texts that spell out operators, holds them against these, and runs their C. */
abstract class CanonicalTexts {
    private static final List<String> TARGETS =
            List.of(TestTargets.ANY, TestTargets.M4, TestTargets.M55, TestTargets.RV32);

    @TempDir
    Path folder;

    final Random random = new Random(5);
    final List<NamedTensor> params = new ArrayList<>();
    final List<ModelMetadata> models = new ArrayList<>();
    final List<List<Artifact>> artifacts = new ArrayList<>();
    final List<Bytes> inputs = new ArrayList<>();
    final ByteArrayOutputStream expected = new ByteArrayOutputStream();

    static String metadata() {
        Function bias = RelayFrontend.read(
                Bytes.ofText("def @main(%x: Tensor[(3), int32], %b: Tensor[(3), int32]) {\n  add(%x, %b)\n}\n"),
                "m.relay",
                Optional.of(ParameterFile.write(List.of(new NamedTensor(
                        "b", DType.INT32, List.of(3), Bytes.wrap(new byte[] {1, 0, 0, 0, 2, 0, 0, 0, -1, -1, -1, -1
                        }))))),
                "m.params",
                "default");
        String text = RelayPrinter.astext(bias);
        return text.substring(text.indexOf("#[metadata]"));
    }

    /** The text of {@code qnn} operators and the one that spells them out answer the same; the latter is compiled. */
    Function same(String name, String qnn, String spelled) {
        Function function = read(name, spelled);
        add(function);
        assertThat(Interpreter.run(function, last(function.params().size())))
                .as(name)
                .isEqualTo(
                        Interpreter.run(read(name, qnn), last(function.params().size())));
        return function;
    }

    Function read(String name, String text) {
        List<NamedTensor> named =
                params.stream().filter(p -> text.contains("%" + p.name() + ":")).toList();
        Function function = RelayFrontend.read(
                Bytes.ofText(text), name + ".relay", Optional.of(ParameterFile.write(named)), name + ".params", name);
        Function again = RelayFrontend.read(
                Bytes.ofText(RelayPrinter.astext(function)), name + ".relay", Optional.empty(), name + ".params", name);
        assertThat(again).as(name).isEqualTo(function);
        return function;
    }

    void add(Function function) {
        CompileRequest request = RequestDraft.of(Path.of("m.relay"), TARGETS.get(models.size() % TARGETS.size()))
                .name(function.name())
                .build();
        CompiledModel compiled = ModelCompiler.compile(request, function);
        models.add(compiled.library().metadata());
        artifacts.add(compiled.library().artifacts().artifacts());
        List<Bytes> own = new ArrayList<>();
        for (Parameter parameter : function.params()) {
            own.add(RandomOperators.input(parameter.type(), models.size() + own.size()));
        }
        inputs.addAll(own);
        Interpreter.run(function, own).forEach(result -> expected.writeBytes(result.toArray()));
    }

    List<Bytes> last(int count) {
        return inputs.subList(inputs.size() - count, inputs.size());
    }

    static List<String> operators(Function function) {
        return function.bindings().stream().map(b -> b.op().name()).toList();
    }

    static String multiplier(double ratio) {
        return String.valueOf(QuantizedMultiplier.of(ratio).multiplier());
    }

    static String shift(double ratio) {
        return String.valueOf(QuantizedMultiplier.of(ratio).shift());
    }

    void multipliers(String prefix, float... scales) {
        params.addAll(ratios(prefix, scales[0], scales[1], scales[2], scales[3]));
        ByteBuffer data = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
        for (float scale : scales) {
            data.putFloat(scale);
        }
        params.add(new NamedTensor(prefix + "s", DType.FLOAT32, List.of(4), Bytes.wrap(data.array())));
    }

    /** {@code m}, {@code l} and {@code r} as TVM computes them of ratios of scales. */
    static List<NamedTensor> ratios(String prefix, double... ratios) {
        int[] m = Arrays.stream(ratios)
                .mapToInt(x -> QuantizedMultiplier.of(x).multiplier())
                .toArray();
        int[] s = Arrays.stream(ratios)
                .mapToInt(x -> QuantizedMultiplier.of(x).shift())
                .toArray();
        return List.of(
                ints(prefix + "m", m),
                ints(prefix + "l", Arrays.stream(s).map(x -> Math.max(x, 0)).toArray()),
                ints(prefix + "r", Arrays.stream(s).map(x -> Math.max(-x, 0)).toArray()));
    }

    static NamedTensor ints(String name, int... values) {
        ByteBuffer data = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            data.putInt(value);
        }
        return new NamedTensor(name, DType.INT32, List.of(values.length), Bytes.wrap(data.array()));
    }

    void param(String name, DType dtype, Integer... dims) {
        int elements = Arrays.stream(dims).reduce(1, (a, b) -> a * b);
        byte[] data = new byte[elements * dtype.bytes()];
        random.nextBytes(data);
        // Keeps int32 within 16 bits.
        for (int i = 3; dtype == DType.INT32 && i < data.length; i += 4) {
            data[i] = (byte) (data[i - 2] >> 7);
            data[i - 1] = data[i];
        }
        params.add(new NamedTensor(name, dtype, List.of(dims), Bytes.wrap(data)));
    }
    /** The C of all that was added answers as the interpreter. */
    void assertCompiledAnswers() {
        assertThat(HostProgram.build(folder, models, artifacts).run(inputs).toArray())
                .isEqualTo(expected.toByteArray());
    }

    /** Parameters that the texts name. */
    void standardParameters() {
        param("w", DType.INT8, 3, 2, 5, 4);
        param("d", DType.INT8, 3, 3, 4, 1);
        param("o", DType.INT8, 4, 1, 3, 3);
        param("f", DType.INT8, 6, 12);
        param("b", DType.INT32, 4);
        multipliers("", 0.0009f, 0.0031f, 0.0005f, 0.002f);
        multipliers("u", 0.7f, 1.9f, 1.2f, 3.4f);
    }
}
