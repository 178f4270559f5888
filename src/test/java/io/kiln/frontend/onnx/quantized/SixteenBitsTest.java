// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.DrawnCases;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.OnnxRuntime;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.ir.Function;
import io.kiln.ir.op.element.TflRealRequantize;
import io.kiln.reference.Interpreter;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Layers between pairs of quantizations of 16 bits, with any zero points, and with weights whose channels have zero points of their own, answer as
 * ONNX Runtime: it sums floats, so that a result may differ by one step where its sum lies at a half.
 */
class SixteenBitsTest {
    private static final int MODELS = DrawnCases.atLeast(60);
    private static final List<ElementType> DATA = List.of(ElementType.UINT16, ElementType.INT16);
    private static final List<ElementType> WEIGHTS =
            List.of(ElementType.UINT8, ElementType.INT8, ElementType.UINT16, ElementType.INT16);

    /** One of so many results may lie at a half. */
    private static final int RESULTS_TO_ONE_AT_A_HALF = 200;

    @TempDir
    private Path folder;

    private final Random random = new Random(3);

    /** A tensor's quantization. */
    private record Quantized(String integers, List<String> parameters) {
        List<String> inputs() {
            List<String> all = new ArrayList<>(List.of(integers));
            all.addAll(parameters);
            return all;
        }
    }

    private String elements(ModelBuilder model, ElementType type, List<Integer> dims) {
        byte[] data = new byte[dims.stream().reduce(type.bits() / Byte.SIZE, Math::multiplyExact)];
        random.nextBytes(data);
        return model.constant(type, dims, data);
    }

    /** The zero point of every second tensor is that of symmetric data. */
    private List<String> parameters(ModelBuilder model, ElementType type, float scale) {
        boolean isSymmetric = type.bits() == Short.SIZE && random.nextBoolean();
        byte[] middle = {0, (byte) (type == ElementType.UINT16 ? 0x80 : 0)};
        String zero = isSymmetric ? model.constant(type, List.of(), middle) : elements(model, type, List.of());
        return List.of(model.floats(true, scale), zero);
    }

    private String pair(ModelBuilder model, String real, String name, List<String> parameters) {
        List<String> inputs = new ArrayList<>(List.of(real));
        inputs.addAll(parameters);
        String integers = model.node("QuantizeLinear", inputs, name + "_q", Map.of());
        return model.node("DequantizeLinear", new Quantized(integers, parameters).inputs(), name, Map.of());
    }

    private String weights(ModelBuilder model, List<Integer> dims, int axis) {
        ElementType type = random.nextBoolean() ? ElementType.INT8 : WEIGHTS.get(random.nextInt(WEIGHTS.size()));
        int channels = dims.get(axis);
        float[] scales = new float[channels];
        for (int i = 0; i < channels; i++) {
            scales[i] = (0.1f + random.nextFloat()) / (1 << type.bits());
        }
        List<String> inputs = new ArrayList<>(List.of(elements(model, type, dims), model.floats(false, scales)));
        if (random.nextBoolean()) {
            inputs.add(elements(model, type, List.of(channels)));
        }
        return model.node("DequantizeLinear", inputs, "w", Map.of("axis", (long) axis));
    }

    /** A layer with or without a bias, of which every third is limited. */
    private String layer(ModelBuilder model, String x, String w, boolean isConvolution, int units) {
        List<String> inputs = new ArrayList<>(List.of(x, w));
        String bias = "";
        if (random.nextBoolean()) {
            float[] reals = new float[units];
            for (int i = 0; i < units; i++) {
                reals[i] = random.nextFloat() - 0.5f;
            }
            bias = model.floats(false, reals);
        }
        if (isConvolution && !bias.isEmpty()) {
            inputs.add(bias);
        }
        String sum = isConvolution
                ? model.node("Conv", inputs, "s", ModelBuilder.window(3, 1, 1))
                : model.node("MatMul", inputs, "s", Map.of());
        if (!isConvolution && !bias.isEmpty()) {
            sum = model.node("Add", List.of(sum, bias), "b", Map.of());
        }
        return random.nextInt(3) == 0 ? model.node("Relu", List.of(sum), "r", Map.of()) : sum;
    }

    @Test
    void layersAnswerAsInOnnxRuntime() {
        List<Function> integers = new ArrayList<>();
        List<Bytes> inputs = new ArrayList<>();
        ByteArrayOutputStream answers = new ByteArrayOutputStream();
        int results = 0;
        int different = 0;
        for (int seed = 0; seed < MODELS; seed++) {
            ModelBuilder model = new ModelBuilder(21);
            boolean isConvolution = seed % 2 == 0;
            int depth = 1 + random.nextInt(isConvolution ? 6 : 60);
            int units = 1 + random.nextInt(9);
            model.input("x", ElementType.FLOAT, isConvolution ? List.of(1, depth, 4, 5) : List.of(2, depth));
            String x = pair(
                    model,
                    "x",
                    "xr",
                    parameters(model, DATA.get(random.nextInt(2)), 0.0005f + random.nextFloat() / 5000));
            String w = isConvolution
                    ? weights(model, List.of(units, depth, 3, 3), 0)
                    : weights(model, List.of(depth, units), 1);
            String sum = layer(model, x, w, isConvolution, units);
            ElementType to = random.nextInt(3) == 0 ? ElementType.UINT8 : DATA.get(random.nextInt(2));
            float scale = to == ElementType.UINT8 ? 0.1f : 0.001f;
            model.output(pair(model, sum, "y", parameters(model, to, scale)), ElementType.FLOAT);
            Bytes file = model.build();
            Function function = OnnxFrontend.read(file, "m.onnx", "m", InputShapes.NONE);
            List<Bytes> data =
                    List.of(RandomOperators.input(function.params().get(0).type(), seed));
            ByteBuffer expected = OnnxRuntime.run(file, function.params(), data)
                    .get(0)
                    .buffer()
                    .order(ByteOrder.LITTLE_ENDIAN);
            Bytes actual = Interpreter.run(function, data).get(0);
            if (isInIntegers(function)) {
                integers.add(function);
                inputs.add(data.get(0));
                answers.writeBytes(actual.toArray());
            }
            for (int at = 0; at < actual.size(); at += Float.BYTES) {
                float difference =
                        Math.abs(actual.buffer().order(ByteOrder.LITTLE_ENDIAN).getFloat(at) - expected.getFloat(at));
                assertThat(difference).as("" + seed).isLessThan(1.01f * scale);
                results++;
                different += difference > scale / 2 ? 1 : 0;
            }
        }
        assertThat(different).isLessThanOrEqualTo(results / RESULTS_TO_ONE_AT_A_HALF);
        assertThat(integers).hasSizeGreaterThan(MODELS / 12);
        for (String target :
                List.of("c -mcpu=cortex-m4", "c -mcpu=cortex-m55", "c -mcpu=cortex-m0", "c -march=rv32imac")) {
            assertThat(compiled(target, integers, inputs)).as(target).isEqualTo(Bytes.wrap(answers.toByteArray()));
        }
    }

    private static boolean isInIntegers(Function function) {
        return function.bindings().stream().anyMatch(b -> b.op() instanceof TflRealRequantize);
    }

    /** What the functions answer as C for a core, one after another. */
    private Bytes compiled(String target, List<Function> functions, List<Bytes> inputs) {
        List<ModelMetadata> models = new ArrayList<>();
        List<List<Artifact>> artifacts = new ArrayList<>();
        for (Function function : functions) {
            CompiledModel model = ModelCompiler.compile(
                    RequestDraft.of(Path.of("m.onnx"), target)
                            .name("m" + models.size())
                            .build(),
                    function);
            models.add(model.library().metadata());
            artifacts.add(model.library().artifacts().artifacts());
        }
        return HostProgram.build(folder.resolve("m" + target.hashCode()), models, artifacts)
                .run(inputs);
    }
}
