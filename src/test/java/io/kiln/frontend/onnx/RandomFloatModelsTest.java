// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.ir.Function;
import io.kiln.ir.op.layer.BlockDense;
import io.kiln.ir.op.layer.Dense;
import io.kiln.reference.Interpreter;
import io.kiln.transform.Pipeline;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random float models of one operator answer as in ONNX Runtime, within the tolerance of ONNX's node tests: in the interpreter, and as
 * C on the host.
 */
class RandomFloatModelsTest {
    private static final boolean ARE_ALL = "all".equals(System.getProperty("kiln.onnx"));
    private static final int MODELS = ARE_ALL ? 600 : 80;

    /** Of each newer operator, 500. */
    private static final int NEWER = ARE_ALL ? 500 * RandomNewerModels.OPERATORS.size() : MODELS;

    private static final int IN_A_PROGRAM = 600;

    private static final double TOLERANCE = 1e-5;

    /**
     * Operators that ONNX Runtime computes of NaN or infinities in its own way: an extreme depends on the place of a NaN, the sums of LRN move
     * along the channels and keep what was infinite, and a position between elements may read one with factor 0, or not. Rows of equal elements less
     * their mean are the mean's rounding error, which LayerNormalization magnifies.
     */
    private static final Set<String> OTHERWISE =
            Set.of("MaxPool", "ReduceMax", "ReduceMin", "LRN", "Resize", "LayerNormalization");

    @TempDir
    private Path folder;

    private int programs;

    /** What the models have in common: inputs one after another, and the interpreter's answers to them. */
    private static final class Round {
        private final List<Bytes> inputs = new ArrayList<>();
        private final ByteArrayOutputStream expected = new ByteArrayOutputStream();
    }

    @Test
    void operatorsAnswerAsInOnnxRuntime() {
        assertThat(MODELS).as("every operator is drawn").isGreaterThanOrEqualTo(RandomFloatModels.OPERATORS.size());
        answerAsInOnnxRuntime(RandomFloatModels::draw, MODELS, List.of("c"));
    }

    @Test
    void newerOperatorsAnswerAsInOnnxRuntime() {
        for (int first = 0; first < NEWER; first += IN_A_PROGRAM) {
            int begin = first;
            int count = Math.min(IN_A_PROGRAM, NEWER - first);
            answerAsInOnnxRuntime(seed -> RandomNewerModels.draw(begin + seed), count, List.of("c"));
        }
    }

    /** With the kernel for cores without a floating-point unit, too. */
    @Test
    void layersOfFewBitsAnswerAsInOnnxRuntime() {
        answerAsInOnnxRuntime(RandomBlockModels::draw, MODELS / 2, List.of("c", "c -mcpu=cortex-m0"));
    }

    @Test
    void weightsOfFewBitsStayIntegers() {
        for (int seed = 0; seed < MODELS / 2; seed++) {
            Function function = OnnxFrontend.read(RandomBlockModels.draw(seed).file(), "m.onnx", "m", InputShapes.NONE);
            assertThat(Pipeline.standard().run(function).bindings())
                    .as("" + seed)
                    .anyMatch(binding -> binding.op() instanceof BlockDense)
                    .noneMatch(binding -> binding.op() instanceof Dense);
        }
    }

    private void answerAsInOnnxRuntime(LongFunction<OnnxDraw.Model> drawn, int count, List<String> targets) {
        List<String> wrong = new ArrayList<>();
        List<ModelMetadata> models = new ArrayList<>();
        List<List<Artifact>> artifacts = new ArrayList<>();
        Round ordinary = new Round();
        Round special = new Round();
        for (int seed = 0; seed < count; seed++) {
            OnnxDraw.Model model = drawn.apply(seed);
            Function function = OnnxFrontend.read(model.file(), "m.onnx", "m" + seed, InputShapes.NONE);
            for (Round round : List.of(ordinary, special)) {
                List<Bytes> data = data(function, seed, round == special);
                List<Bytes> answers = Interpreter.run(function, data);
                if (isCompared(model, round == special)) {
                    List<Bytes> runtime = OnnxRuntime.run(model.file(), function.params(), data);
                    for (int i = 0; i < answers.size(); i++) {
                        wrong.addAll(differences(
                                "model " + models.size() + " of program " + programs + ": " + model.name(),
                                runtime.get(i),
                                answers.get(i)));
                    }
                }
                round.inputs.addAll(data);
                answers.forEach(answer -> round.expected.writeBytes(answer.toArray()));
            }
            CompileRequest request = RequestDraft.of(Path.of("m.onnx"), targets.get(seed % targets.size()))
                    .name("m" + seed)
                    .build();
            CompiledModel compiled = ModelCompiler.compile(request, function);
            models.add(compiled.library().metadata());
            artifacts.add(compiled.library().artifacts().artifacts());
        }
        assertThat(wrong).isEmpty();
        HostProgram program = HostProgram.build(folder.resolve("program" + programs++), models, artifacts);
        for (Round round : List.of(ordinary, special)) {
            assertThat(differences("C", Bytes.wrap(round.expected.toByteArray()), program.run(round.inputs)))
                    .isEmpty();
        }
    }

    /** The first program's only: of thousands of models, some lose infinities to denormal numbers, or see NaN in a key that is hidden. */
    private boolean isCompared(OnnxDraw.Model model, boolean isSpecial) {
        return !isSpecial || (programs == 0 && !OTHERWISE.contains(model.name()));
    }

    private static List<Bytes> data(Function function, int seed, boolean isSpecial) {
        List<Bytes> data = new ArrayList<>();
        for (var param : function.params()) {
            data.add(
                    isSpecial
                            ? RandomOperators.special(param.type(), seed + data.size())
                            : RandomOperators.input(param.type(), seed + data.size()));
        }
        return data;
    }

    /** Empty if floats differ within the tolerance, absolute and relative, and what is infinite or no number is equal. */
    private static List<String> differences(String what, Bytes expected, Bytes actual) {
        assertThat(actual.size()).as(what).isEqualTo(expected.size());
        for (int at = 0; at < expected.size(); at += Float.BYTES) {
            float wanted = expected.buffer().getFloat(at);
            float given = actual.buffer().getFloat(at);
            boolean isClose = Float.isFinite(wanted)
                    ? Math.abs((double) wanted - given) <= TOLERANCE * (1 + Math.abs(wanted))
                    : Float.compare(wanted, given) == 0;
            if (!isClose) {
                return List.of(what + ": element " + at / Float.BYTES + " is " + given + ", not " + wanted);
            }
        }
        return List.of();
    }
}
