// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.OnnxRuntime;
import io.kiln.frontend.tflite.write.TfliteMaker;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.op.layer.TreeEnsemble;
import io.kiln.quantize.FloatNet;
import io.kiln.quantize.QuantizeOptions;
import io.kiln.quantize.QuantizeOptions.QuantizeMode;
import io.kiln.quantize.Quantizer;
import io.kiln.quantize.plan.Plan.PlannedNode;
import io.kiln.quantize.plan.Plan.QuantizedNetwork;
import io.kiln.quantize.plan.Precision;
import io.kiln.quantize.plan.QuantizedConstants.QuantizedVotes;
import io.kiln.quantize.run.Runs;
import io.kiln.reference.Interpreter;
import io.kiln.reference.kernel.Tensor;
import io.kiln.target.TestTargets;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Random forests answer as in ONNX Runtime, bit for bit but for transformations: in the interpreter, and as C on the host, as code and as tables. */
class RandomForestsTest {
    private static final boolean IS_WHOLE = "all".equals(System.getProperty("kiln.onnx"));
    private static final int MODELS = IS_WHOLE ? 900 : 300;
    private static final int ROUNDS = IS_WHOLE ? 60 : 8;

    @TempDir
    private Path folder;

    @Test
    void forestsAnswerAsInOnnxRuntime() {
        List<String> wrong = new ArrayList<>();
        List<Function> functions = new ArrayList<>();
        List<ModelMetadata> models = new ArrayList<>();
        List<List<Artifact>> artifacts = new ArrayList<>();
        List<List<Bytes>> answers = new ArrayList<>();
        List<Integer> ulps = new ArrayList<>();
        for (int seed = 0; seed < MODELS; seed++) {
            RandomForests.Model model = RandomForests.draw(seed);
            Function function = OnnxFrontend.read(model.file(), "m.onnx", "m" + seed, InputShapes.NONE);
            functions.add(function);
            ulps.add(model.ulps());
            List<Bytes> own = new ArrayList<>();
            for (int round = 0; round < ROUNDS; round++) {
                List<Bytes> data = List.of(input(function, seed, round));
                List<Bytes> answer = Interpreter.run(function, data);
                List<Bytes> runtime = OnnxRuntime.run(model.file(), function.params(), data);
                for (int i = 0; i < runtime.size(); i++) {
                    wrong.addAll(differences(
                            "forest " + seed + ", output " + i,
                            answer.get(i),
                            runtime.get(i),
                            i < runtime.size() - 1 ? 0 : model.ulps()));
                }
                own.addAll(answer);
            }
            answers.add(own);
            CompiledModel compiled = ModelCompiler.compile(
                    RequestDraft.of(Path.of("m.onnx"), seed / 4 % 2 == 0 ? "c" : TestTargets.M4)
                            .name("m" + seed)
                            .optimize(seed % 3 == 0 ? Optimize.SIZE : Optimize.SPEED)
                            .build(),
                    function);
            models.add(compiled.library().metadata());
            artifacts.add(compiled.library().artifacts().artifacts());
        }
        assertThat(wrong).isEmpty();
        List<Bytes> inputs = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            for (int seed = 0; seed < MODELS; seed++) {
                inputs.add(input(functions.get(seed), seed, round));
            }
        }
        Bytes c = HostProgram.build(folder, models, artifacts).run(inputs);
        wrong.addAll(differences(c, answers, ulps));
        assertThat(wrong).isEmpty();
    }

    /** Votes of 8 and 16 bits are near the float ones, and the C sums them as the interpreter does, as code and as tables. */
    @Test
    void quantizedVotesAnswerAlike() {
        List<Function> functions = new ArrayList<>();
        List<ModelMetadata> models = new ArrayList<>();
        List<List<Artifact>> artifacts = new ArrayList<>();
        int ensembles = 0;
        for (int seed = 0; seed < MODELS / 3; seed++) {
            RandomForests.Model model = RandomForests.draw(seed);
            Function real = OnnxFrontend.read(model.file(), "m.onnx", "m" + seed, InputShapes.NONE);
            QuantizeMode mode = seed / 4 % 3 == 0 ? QuantizeMode.INT16X8 : QuantizeMode.INT8;
            QuantizedNetwork network = new Quantizer(new TfliteMaker("m"), Runs.Progress.NONE)
                    .quantize(real, FloatNet.samples(real, 2, seed), QuantizeOptions.of(mode))
                    .network();
            ensembles += nearbyEnsembles(network, input(real, seed, 0));
            if (model.ulps() == 0) {
                functions.add(network.function());
                CompiledModel compiled = ModelCompiler.compile(
                        RequestDraft.of(Path.of("m.onnx"), seed % 2 == 0 ? "c" : TestTargets.M4)
                                .name("q" + seed)
                                .optimize(seed % 3 == 0 ? Optimize.SIZE : Optimize.SPEED)
                                .build(),
                        network.function());
                models.add(compiled.library().metadata());
                artifacts.add(compiled.library().artifacts().artifacts());
            }
        }
        assertThat(ensembles).isGreaterThan(MODELS / 6);
        List<Bytes> inputs = new ArrayList<>();
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < functions.size(); i++) {
                inputs.add(input(functions.get(i), i, round));
                Interpreter.run(functions.get(i), inputs.subList(inputs.size() - 1, inputs.size()))
                        .forEach(answer -> all.writeBytes(answer.toArray()));
            }
        }
        assertThat(HostProgram.build(folder, models, artifacts).run(inputs)).isEqualTo(Bytes.wrap(all.toByteArray()));
    }

    /** Compares the sums of each ensemble with those of float votes; returns their number. */
    private static int nearbyEnsembles(QuantizedNetwork network, Bytes input) {
        Map<Integer, Tensor> real = values(network.plan().function(), input);
        Map<Integer, Tensor> quantized = values(network.function(), input);
        int ensembles = 0;
        for (PlannedNode planned : network.plan().nodes()) {
            if (planned.node().op() instanceof TreeEnsemble) {
                assertThat(planned.precision()).isNotEqualTo(Precision.FLOAT);
                int trees = planned.node().argTypes().get(2).shape().dim(0);
                Constant scales = QuantizedVotes.of(planned).scales();
                float[] expected = real.get(planned.node().output()).floats();
                float[] actual = quantized
                        .get(network.values().get(planned.node().output()))
                        .floats();
                for (int i = 0; i < expected.length; i++) {
                    double noise = trees * (0.5 * scales.real(i % scales.elements()) + 1e-5);
                    assertThat((double) actual[i]).isCloseTo(expected[i], Offset.offset(noise));
                }
                ensembles++;
            } else {
                assertThat(planned.precision())
                        .as("%s computes with votes", planned.node().op())
                        .isEqualTo(Precision.FLOAT);
            }
        }
        return ensembles;
    }

    private static Map<Integer, Tensor> values(Function function, Bytes input) {
        Map<Integer, Tensor> values = new HashMap<>();
        Interpreter.observe(function, List.of(input), Interpreter.State.initial(function), values::put);
        return values;
    }

    /** Thresholds of double decide about floats as in ONNX Runtime; sums are those of single precision. */
    @Test
    void doublesDecideAsInOnnxRuntime() {
        List<String> wrong = new ArrayList<>();
        for (int seed = 0; seed < MODELS / 3; seed++) {
            RandomForests.Model model = RandomForests.doubles(seed);
            Function function = OnnxFrontend.read(model.file(), "m.onnx", "m", InputShapes.NONE);
            boolean isSum = function.bindings().stream()
                    .anyMatch(binding -> binding.op() instanceof TreeEnsemble trees
                            && trees.aggregate() == TreeEnsemble.Aggregate.SUM);
            for (int round = 0; round < ROUNDS; round++) {
                List<Bytes> data = List.of(input(function, seed, round));
                wrong.addAll(differences(
                        "forest " + seed,
                        Interpreter.run(function, data).get(0),
                        OnnxRuntime.run(model.file(), function.params(), data).get(0),
                        isSum ? Math.max(200, model.ulps()) : Math.max(1, model.ulps())));
            }
        }
        assertThat(wrong).isEmpty();
    }

    /** A scaler before the trees stays float as well, and its reason says so: 256 steps would move features over thresholds. */
    @Test
    void whatTreesCompareIsNotQuantized() {
        RandomForests.Model model = RandomForests.scaled(3);
        Function real = OnnxFrontend.read(model.file(), "m.onnx", "m", InputShapes.NONE);
        QuantizedNetwork network = new Quantizer(new TfliteMaker("m"), Runs.Progress.NONE)
                .quantize(real, FloatNet.samples(real, 2, 3), QuantizeOptions.of(QuantizeMode.INT8))
                .network();
        assertThat(network.plan().nodes()).hasSizeGreaterThan(2);
        for (PlannedNode planned : network.plan().nodes()) {
            if (planned.node().op() instanceof TreeEnsemble) {
                assertThat(planned.precision()).isEqualTo(Precision.INT8);
            } else {
                assertThat(planned.precision()).isEqualTo(Precision.FLOAT);
                assertThat(planned.reason()).hasValue("it prepares what trees compare, or computes with their votes");
            }
        }
    }

    /** Compares all outputs of all forests, round by round. */
    private static List<String> differences(Bytes c, List<List<Bytes>> answers, List<Integer> ulps) {
        List<String> wrong = new ArrayList<>();
        int at = 0;
        for (int round = 0; round < ROUNDS; round++) {
            for (int seed = 0; seed < MODELS; seed++) {
                int outputs = answers.get(seed).size() / ROUNDS;
                for (int i = 0; i < outputs; i++) {
                    Bytes expected = answers.get(seed).get(round * outputs + i);
                    String what = "C of forest " + seed + ", output " + i;
                    int most = i < outputs - 1 ? 0 : ulps.get(seed);
                    wrong.addAll(differences(what, c.part(at, expected.size()), expected, most));
                    at += expected.size();
                }
            }
        }
        assertThat(at).isEqualTo(c.size());
        return wrong;
    }

    private static Bytes input(Function function, int seed, int round) {
        return RandomForests.input((int) function.params().get(0).type().shape().elements(), 1000L * seed + round);
    }

    /** Empty for equal bits, and of transformations for floats that differ by a few units in the last place, or NaN. */
    private static List<String> differences(String what, Bytes actual, Bytes expected, int ulps) {
        assertThat(actual.size()).as(what).isEqualTo(expected.size());
        for (int at = 0; at < expected.size(); at += Float.BYTES) {
            float wanted = expected.buffer().getFloat(at);
            float given = actual.buffer().getFloat(at);
            boolean isClose = (Float.isNaN(wanted) && Float.isNaN(given))
                    || Math.abs(given - wanted) <= ulps * Math.ulp(Math.max(1, Math.abs(wanted)));
            if (actual.int32(at) != expected.int32(at) && (ulps == 0 || !isClose)) {
                return List.of(what + ": element " + at / Float.BYTES + " is " + given + ", not " + wanted);
            }
        }
        return List.of();
    }
}
