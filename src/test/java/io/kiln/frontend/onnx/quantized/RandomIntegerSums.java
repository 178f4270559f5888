// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static io.kiln.frontend.onnx.model.ElementType.FLOAT;
import static io.kiln.frontend.onnx.model.ElementType.INT32;
import static io.kiln.frontend.onnx.model.ElementType.INT8;
import static io.kiln.frontend.onnx.model.ElementType.UINT8;

import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.model.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Draws layers whose sums are the result, and those of dynamically quantized models.
 *
 * @param model receives the layer
 * @param random source of all choices
 * @param type element type of the data
 */
record RandomIntegerSums(ModelBuilder model, Random random, ElementType type) {
    void draw(String operator) {
        switch (operator) {
            case "MatMulInteger" -> matrices();
            case "ConvInteger" -> filter();
            default -> dynamic();
        }
    }

    private int zero(ElementType of) {
        return random.nextInt(256) + (of == INT8 ? Byte.MIN_VALUE : 0);
    }

    private byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }

    private String zeroOfData() {
        return random.nextBoolean() ? model.bytes(type, true, zero(type)) : model.input("zero", type, List.of());
    }

    private void matrices() {
        int rows = 1 + random.nextInt(4);
        int depth = 1 + random.nextInt(40);
        int units = 1 + random.nextInt(12);
        List<String> inputs = new ArrayList<>(List.of(model.input("x", type, List.of(rows, depth))));
        boolean isComputed = random.nextInt(3) == 0;
        ElementType ofWeight = isComputed ? UINT8 : INT8;
        inputs.add(
                isComputed
                        ? model.input("w", ofWeight, List.of(depth, units))
                        : model.constant(ofWeight, List.of(depth, units), bytes(depth * units)));
        inputs.add(zeroOfData());
        boolean hasSeveral = random.nextBoolean();
        int[] zeros = random.ints(hasSeveral ? units : 1, 0, 8).toArray();
        inputs.add(model.bytes(ofWeight, !hasSeveral, zeros));
        model.output(model.node("MatMulInteger", inputs, "sums", Map.of()), INT32, List.of(rows, units));
    }

    private void filter() {
        int channels = 1 + random.nextInt(4);
        int outputs = 1 + random.nextInt(5);
        int size = 3 + random.nextInt(4);
        long pad = random.nextInt(2);
        int out = size + 2 * (int) pad - 2;
        List<String> inputs = new ArrayList<>(List.of(model.input("x", UINT8, List.of(1, channels, size, size))));
        inputs.add(model.constant(UINT8, List.of(outputs, channels, 3, 3), bytes(outputs * channels * 9)));
        inputs.add(
                random.nextBoolean() ? model.bytes(UINT8, true, zero(UINT8)) : model.input("zero", UINT8, List.of()));
        inputs.add(model.bytes(UINT8, true, zero(UINT8)));
        Map<String, Object> attributes = Map.of("pads", List.of(pad, pad, pad, pad));
        model.output(model.node("ConvInteger", inputs, "sums", attributes), INT32, List.of(1, outputs, out, out));
    }

    /** What ONNX Runtime's dynamic quantization makes of a fully connected layer. */
    private void dynamic() {
        int depth = 1 + random.nextInt(40);
        int units = 1 + random.nextInt(12);
        String x = model.input("x", FLOAT, List.of(2, depth));
        List<String> parts = List.of("data", "scale", "zero");
        model.node("", "DynamicQuantizeLinear", List.of(x), parts, Map.of());
        String weight = model.constant(INT8, List.of(depth, units), bytes(depth * units));
        List<String> inputs = List.of("data", weight, "zero", model.bytes(INT8, true, 0));
        String sums = model.node("MatMulInteger", inputs, "sums", Map.of());
        String reals = model.node("Cast", List.of(sums), "reals", Map.of("to", 1L));
        String scale = model.node("Mul", List.of("scale", model.floats(true, 0.013f)), "both", Map.of());
        model.output(model.node("Mul", List.of(reals, scale), "result", Map.of()), FLOAT, List.of(2, units));
    }
}
