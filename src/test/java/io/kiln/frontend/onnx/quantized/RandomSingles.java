// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Draws operators on bytes whose results depend on the roundings of single precision: softmax, its logarithm, and means near halves. */
public final class RandomSingles extends QuantizedDraw {
    /** Versions of ONNX's operators; windows are summed in another order from 19 on. */
    private static final int[] VERSIONS = {11, 13, 19};

    private static final List<String> OPERATORS = List.of(
            "Softmax",
            "AveragePool",
            "GlobalAveragePool",
            "ReduceMean",
            "QLinearSoftmax",
            "QLinearAveragePool",
            "LogSoftmax");

    private final String name;

    private RandomSingles(long seed) {
        super(seed, OPERATORS.size(), VERSIONS);
        this.name = OPERATORS.get((int) (seed % OPERATORS.size()));
    }

    /** The model of a number; operators take turns. */
    public static Model draw(long seed) {
        RandomSingles drawn = new RandomSingles(seed);
        switch (drawn.name) {
            case "Softmax", "LogSoftmax", "QLinearSoftmax" -> drawn.softmax();
            case "AveragePool", "QLinearAveragePool" -> drawn.windows();
            default -> drawn.whole();
        }
        return drawn.named(drawn.name + " of version " + drawn.version);
    }

    private float scale() {
        return scale(LEAST, MOST, false);
    }

    /** @param more operands after the first */
    private void emit(List<Integer> dims, float from, Scale to, Map<String, Object> attributes, String... more) {
        Scale of = new Scale(from, zero());
        if (name.startsWith("Q")) {
            List<String> inputs = input("x", dims, of);
            inputs.addAll(parameters(to));
            endWithBytes(MICROSOFT, name, inputs, attributes);
            return;
        }
        List<String> inputs = with(real("x", dims, of), List.of(more));
        quantized(model.node(name, inputs, "computed", attributes), to);
    }

    private void softmax() {
        int classes = name.startsWith("Q") ? 2 + below(30) : upTo(coin() ? 16 : 70);
        List<Integer> dims = List.of(3, upTo(9), classes);
        boolean isUsual = coin() || name.startsWith("Q");
        float to = isUsual ? (coin() ? 1f / 256 : 1f / 255) : (float) (0.002 + 0.01 * random.nextDouble());
        int zeroPoint = isUsual ? -128 : zero();
        if (name.startsWith("Log")) {
            to = isUsual ? 1f / 16 : 10 * to;
            zeroPoint = isUsual ? 127 : zero();
        }
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put("axis", (long) below(3));
        if (name.startsWith("Q")) {
            attributes.put("axis", 2L);
            attributes.put("opset", 13L);
        }
        emit(dims, scale(), new Scale(to, zeroPoint), attributes);
    }

    private void windows() {
        int kernelH = upTo(4);
        int kernelW = upTo(4);
        int stride = upTo(4);
        int height = kernelH + below(7);
        int width = kernelW + below(7);
        int padH = below(kernelH);
        int padW = below(kernelW);
        int channels = upTo(5);
        float from = scale();
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put("kernel_shape", List.of((long) kernelH, (long) kernelW));
        attributes.put("strides", List.of((long) stride, (long) stride));
        attributes.put("pads", List.of((long) padH, (long) padW, (long) padH, (long) padW));
        attributes.put("count_include_pad", (long) below(2));
        float to = coin() ? from : from / 2;
        emit(List.of(1, channels, height, width), from, new Scale(to, zero()), attributes);
    }

    private void whole() {
        int height = upTo(9);
        int width = upTo(9);
        int channels = upTo(9);
        float from = scale();
        float to = coin() ? from : from / 4;
        boolean isGlobal = name.startsWith("Global");
        List<Integer> axes = oneOf(List.of(List.of(2, 3), List.of(1), List.of(1, 2), List.of(1, 3)));
        List<Integer> dims = List.of(upTo(2), channels, height, width);
        // From version 18 on, axes are an input.
        boolean isInput = version >= 18 && !isGlobal;
        boolean isAttribute = version < 18 && !isGlobal;
        emit(
                dims,
                from,
                new Scale(to, zero()),
                isAttribute ? Map.of("axes", axes.stream().map(Long::valueOf).toList()) : Map.of(),
                isInput ? new String[] {model.longs(axes)} : new String[0]);
    }
}
