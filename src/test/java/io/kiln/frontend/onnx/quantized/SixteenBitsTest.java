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
import io.kiln.frontend.onnx.OnnxDraw;
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

    /** A layer between pairs. */
    private static final class Layer extends OnnxDraw {
        private final boolean isConvolution;
        private final ElementType to;
        private final float scale;

        Layer(long seed) {
            super(seed, 2, 21);
            isConvolution = seed % 2 == 0;
            to = below(3) == 0 ? ElementType.UINT8 : oneOf(DATA);
            scale = to == ElementType.UINT8 ? 0.1f : 0.001f;
        }

        Bytes draw() {
            int depth = upTo(isConvolution ? 6 : 60);
            int units = upTo(9);
            String x = x(isConvolution ? List.of(1, depth, 4, 5) : List.of(2, depth));
            String real = pair(x, "xr", parameters(oneOf(DATA), 0.0005f + random.nextFloat() / 5000));
            String w = isConvolution ? weights(List.of(units, depth, 3, 3), 0) : weights(List.of(depth, units), 1);
            model.output(pair(sum(real, w, units), "y", parameters(to, scale)), ElementType.FLOAT);
            return model.build();
        }

        /** The zero point of every second tensor is that of symmetric data. */
        private List<String> parameters(ElementType type, float of) {
            boolean isSymmetric = type.bits() == Short.SIZE && coin();
            byte[] middle = {0, (byte) (type == ElementType.UINT16 ? 0x80 : 0)};
            String zero = isSymmetric ? model.constant(type, List.of(), middle) : constant(type, List.of());
            return List.of(model.floats(true, of), zero);
        }

        private String pair(String real, String name, List<String> parameters) {
            String integers = model.node("QuantizeLinear", with(real, parameters), name + "_q", Map.of());
            return model.node("DequantizeLinear", with(integers, parameters), name, Map.of());
        }

        private String weights(List<Integer> dims, int axis) {
            ElementType type = coin() ? ElementType.INT8 : oneOf(WEIGHTS);
            List<Integer> channels = List.of(dims.get(axis));
            String scales = constant(channels, () -> (0.1f + random.nextFloat()) / (1 << type.bits()));
            List<String> inputs = new ArrayList<>(List.of(constant(type, dims), scales));
            if (coin()) {
                inputs.add(constant(type, channels));
            }
            return model.node("DequantizeLinear", inputs, "w", Map.of("axis", (long) axis));
        }

        /** A layer with or without a bias, of which every third is limited. */
        private String sum(String x, String w, int units) {
            List<String> bias = coin() ? List.of(constant(List.of(units), () -> random.nextFloat() - 0.5f)) : List.of();
            String sum;
            if (isConvolution) {
                List<String> inputs = with(x, with(w, bias));
                sum = model.node("Conv", inputs, "s", ModelBuilder.window(3, 1, 1));
            } else {
                String product = model.node("MatMul", List.of(x, w), "s", Map.of());
                sum = bias.isEmpty() ? product : model.node("Add", with(product, bias), "b", Map.of());
            }
            return below(3) == 0 ? model.node("Relu", List.of(sum), "r", Map.of()) : sum;
        }
    }

    @Test
    void layersAnswerAsInOnnxRuntime() {
        List<Function> integers = new ArrayList<>();
        List<Bytes> inputs = new ArrayList<>();
        ByteArrayOutputStream answers = new ByteArrayOutputStream();
        int results = 0;
        int different = 0;
        for (int seed = 0; seed < MODELS; seed++) {
            Layer layer = new Layer(seed);
            Bytes file = layer.draw();
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
                assertThat(difference).as("" + seed).isLessThan(1.01f * layer.scale);
                results++;
                different += difference > layer.scale / 2 ? 1 : 0;
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
