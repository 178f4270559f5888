// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.OnnxRuntime;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Layers whose channels have zero points of their own answer as ONNX Runtime, which computes each channel as a layer of its own. */
class ChannelZeroPointsTest {
    private static final int MODELS = 40;

    private final Random random = new Random(1);

    private byte[] bytes(int count, int from, int to) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) (from + random.nextInt(to - from + 1));
        }
        return bytes;
    }

    private static void compare(String what, ModelBuilder own, ModelBuilder runtime) {
        Function function = OnnxFrontend.read(own.build(), "m.onnx", "m", InputShapes.NONE);
        List<Bytes> data = new ArrayList<>();
        function.params().forEach(param -> data.add(RandomOperators.input(param.type(), 7)));
        assertThat(Interpreter.run(function, data))
                .as(what)
                .isEqualTo(OnnxRuntime.run(runtime.build(), function.params(), data));
    }

    /** Zero points that are far from the weights exceed a byte with them, those that are near do not. */
    @Test
    void productsOfMatrices() {
        for (int seed = 0; seed < MODELS; seed++) {
            boolean isFar = seed % 2 == 0;
            ElementType type = seed % 4 < 2 ? ElementType.UINT8 : ElementType.INT8;
            int shift = type == ElementType.UINT8 ? 128 : 0;
            int rows = 1 + random.nextInt(3);
            int depth = 1 + random.nextInt(20);
            int units = 2 + random.nextInt(5);
            ModelBuilder model = new ModelBuilder(17);
            model.input("x", ElementType.UINT8, List.of(rows, depth));
            String weight = model.constant(
                    type,
                    List.of(depth, units),
                    bytes(depth * units, shift - (isFar ? 128 : 50), shift + (isFar ? 127 : 50)));
            String zeros = model.constant(
                    type, List.of(units), bytes(units, shift - (isFar ? 128 : 50), shift + (isFar ? 127 : 50)));
            float[] scales = new float[units];
            for (int i = 0; i < units; i++) {
                scales[i] = 0.001f + random.nextFloat() / 50;
            }
            model.node(
                    "QLinearMatMul",
                    List.of(
                            "x",
                            model.floats(true, 0.02f),
                            model.bytes(ElementType.UINT8, true, 100),
                            weight,
                            model.floats(false, scales),
                            zeros,
                            model.floats(true, 0.3f),
                            model.bytes(ElementType.UINT8, true, 90)),
                    "y",
                    Map.of());
            model.output("y", ElementType.UINT8);
            compare("" + seed, model, model);
        }
    }

    @Test
    void convolutions() {
        for (int seed = 0; seed < MODELS; seed++) {
            int spread = seed % 2 == 0 ? 127 : 50;
            int groups = 1 + random.nextInt(2);
            int inputs = groups * (1 + random.nextInt(3));
            int outputs = groups * (1 + random.nextInt(3));
            int taps = inputs / groups * 9;
            byte[] weights = bytes(outputs * taps, -spread, spread);
            byte[] zeros = bytes(outputs, -spread, spread);
            byte[] bias = bytes(4 * outputs, 0, 1);
            float[] scales = new float[outputs];
            for (int i = 0; i < outputs; i++) {
                scales[i] = 0.001f + random.nextFloat() / 100;
            }
            ModelBuilder own = new ModelBuilder(17);
            ModelBuilder runtime = new ModelBuilder(17);
            for (ModelBuilder model : List.of(own, runtime)) {
                model.input("x", ElementType.UINT8, List.of(1, inputs, 5, 6));
            }
            Map<String, Object> window = ModelBuilder.window(3, 1, 1 + random.nextInt(2));
            window.put("group", (long) groups);
            layer(own, "x", "y", inputs / groups, weights, scales, zeros, bias, window);
            own.output("y", ElementType.UINT8);
            window.put("group", 1L);
            List<String> parts = new ArrayList<>();
            for (int i = 0; i < outputs; i++) {
                int first = i / (outputs / groups) * (inputs / groups);
                String part = runtime.node(
                        "Slice",
                        List.of(
                                "x",
                                runtime.longs(false, first),
                                runtime.longs(false, first + inputs / groups),
                                runtime.longs(false, 1)),
                        "x" + i,
                        Map.of());
                layer(
                        runtime,
                        part,
                        "y" + i,
                        inputs / groups,
                        ByteBuffer.allocate(taps).put(weights, i * taps, taps).array(),
                        new float[] {scales[i]},
                        new byte[] {zeros[i]},
                        ByteBuffer.allocate(4).put(bias, 4 * i, 4).array(),
                        window);
                parts.add("y" + i);
            }
            runtime.output(runtime.node("Concat", parts, "y", Map.of("axis", 1L)), ElementType.UINT8);
            compare("" + seed, own, runtime);
        }
    }

    /** Weights less their zero points are bytes, so that a layer between pairs is computed in integers, too. */
    @Test
    void pairsAroundAConvolution() {
        byte[] weights = bytes(3 * 2 * 9, -50, 50);
        byte[] zeros = {-20, 30, 5};
        float[] scales = {0.004f, 0.006f, 0.002f};
        Map<String, Object> window = ModelBuilder.window(3, 1, 1);
        ModelBuilder operator = new ModelBuilder(17);
        operator.input("x", ElementType.UINT8, List.of(1, 2, 5, 6));
        layer(operator, "x", "y", 2, weights, scales, zeros, new byte[12], window);
        operator.output("y", ElementType.UINT8);
        ModelBuilder pairs = new ModelBuilder(17);
        pairs.input("x", ElementType.UINT8, List.of(1, 2, 5, 6));
        String zero = pairs.bytes(ElementType.UINT8, true, 120);
        pairs.node("DequantizeLinear", List.of("x", pairs.floats(true, 0.05f), zero), "a", Map.of());
        String weight = pairs.constant(ElementType.INT8, List.of(3, 2, 3, 3), weights);
        String points = pairs.constant(ElementType.INT8, List.of(3), zeros);
        pairs.node("DequantizeLinear", List.of(weight, pairs.floats(false, scales), points), "w", Map.of("axis", 0L));
        pairs.node("Conv", List.of("a", "w"), "b", window);
        String result = pairs.bytes(ElementType.UINT8, true, 77);
        pairs.node("QuantizeLinear", List.of("b", pairs.floats(true, 0.4f), result), "y", Map.of());
        pairs.output("y", ElementType.UINT8);
        Function function = OnnxFrontend.read(pairs.build(), "m.onnx", "m", InputShapes.NONE);
        assertThat(function.bindings().stream().map(binding -> binding.op().name()))
                .contains("qnn.conv2d")
                .doesNotContain("nn.conv2d");
        List<Bytes> data =
                List.of(RandomOperators.input(function.params().get(0).type(), 3));
        assertThat(Interpreter.run(function, data))
                .isEqualTo(Interpreter.run(OnnxFrontend.read(operator.build(), "m.onnx", "m", InputShapes.NONE), data));
    }

    private static void layer(
            ModelBuilder model,
            String input,
            String output,
            int depth,
            byte[] weights,
            float[] scales,
            byte[] zeros,
            byte[] bias,
            Map<String, Object> window) {
        int units = zeros.length;
        ByteBuffer words =
                ByteBuffer.allocate(bias.length).order(ByteOrder.LITTLE_ENDIAN).put(bias);
        model.node(
                "QLinearConv",
                List.of(
                        input,
                        model.floats(true, 0.05f),
                        model.bytes(ElementType.UINT8, true, 120),
                        model.constant(ElementType.INT8, List.of(units, depth, 3, 3), weights),
                        model.floats(false, scales),
                        model.constant(ElementType.INT8, List.of(units), zeros),
                        model.floats(true, 0.4f),
                        model.bytes(ElementType.UINT8, true, 77),
                        model.constant(ElementType.INT32, List.of(units), words.array())),
                output,
                window);
    }
}
