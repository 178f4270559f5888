// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static io.kiln.frontend.onnx.model.ElementType.INT32;
import static io.kiln.frontend.onnx.model.ElementType.INT8;
import static io.kiln.frontend.onnx.model.ElementType.UINT8;

import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.model.ElementType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** Draws quantized models of one operator, in both formats, and layers whose sums are the result. */
public final class RandomModels extends QuantizedDraw {
    /** Operators, which take turns. */
    private static final List<String> OPERATORS = List.of("""
        QLinearConv Conv QLinearMatMul QGemm Gemm QLinearConcat QLinearAdd QLinearMul Add Sub Mul Div
        Min Max Relu LeakyRelu Clip Abs MaxPool AveragePool QLinearAveragePool GlobalAveragePool
        QLinearGlobalAveragePool QLinearLeakyRelu QLinearSoftmax Concat Reshape Transpose Conv+Relu
        Rescale MatMulInteger ConvInteger DynamicQuantizeLinear
        """.strip().split("\\s+", -1));

    private final boolean isPowerOfTwo;
    private final String name;

    /** ONNX Runtime's own operators for pairs of quantizations, in every fifth model. */
    private final String domain;

    private RandomModels(long seed) {
        super(seed, OPERATORS.size(), 13);
        this.isPowerOfTwo = below(4) == 0;
        this.domain = seed % 5 == 4 ? MICROSOFT : "";
        this.name = OPERATORS.get((int) (seed % OPERATORS.size()));
    }

    /** The model of a number; operators take turns. */
    public static Model draw(long seed) {
        RandomModels drawn = new RandomModels(seed);
        drawn.build();
        return drawn.named(drawn.name + (drawn.isPowerOfTwo ? " with powers of two" : ""));
    }

    private void build() {
        switch (name) {
            case "QLinearConv", "Conv", "Conv+Relu" -> convolution();
            case "QLinearMatMul", "QGemm", "Gemm" -> product();
            case "QLinearAdd", "QLinearMul" -> fusedPair();
            case "Add", "Sub", "Mul", "Div", "Min", "Max" -> pair();
            case "MaxPool", "AveragePool", "GlobalAveragePool" -> pool();
            case "QLinearAveragePool", "QLinearGlobalAveragePool" -> fusedPool();
            case "QLinearLeakyRelu", "QLinearSoftmax" -> fusedFunction();
            case "Concat" -> concatenation();
            case "QLinearConcat" -> fusedConcatenation();
            case "MatMulInteger" -> sumsOfMatrices();
            case "ConvInteger" -> sumsOfFilter();
            case "DynamicQuantizeLinear" -> dynamic();
            default -> function();
        }
    }

    @Override
    String domain() {
        return domain;
    }

    private Scale scale(double low, double high) {
        float scale = scale(low, high, isPowerOfTwo);
        return new Scale(scale, below(3) == 0 ? 0 : zero());
    }

    private void convolution() {
        int channels = upTo(9);
        int kernel = upTo(3);
        int size = kernel + below(6);
        boolean isDepthwise = below(3) == 0;
        int outputs = isDepthwise ? channels : upTo(9);
        Map<String, Object> attributes = ModelBuilder.window(kernel, below(kernel), upTo(2));
        attributes.put("group", (long) (isDepthwise ? channels : 1));
        int depth = isDepthwise ? 1 : channels;
        int taps = depth * kernel * kernel;
        Scale from = scale(0.01, 0.2);
        Scale to = scale(0.02 * Math.sqrt(taps), 0.2 * Math.sqrt(taps));
        float[] scales = reals(coin() ? outputs : 1, this::weightScale);
        List<String> weights = weights(constant(INT8, List.of(outputs, depth, kernel, kernel)), scales);
        String bias = bias(outputs);
        List<Integer> dims = List.of(1, channels, size, size);
        if (name.equals("QLinearConv")) {
            List<String> inputs = input("x", dims, from);
            inputs.addAll(weights);
            inputs.addAll(parameters(to));
            inputs.add(bias);
            endWithBytes("", name, inputs, attributes);
            return;
        }
        Map<String, Object> firstAxis = Map.of("axis", 0L);
        String x = real("x", dims, from);
        String w = model.node("DequantizeLinear", weights, "w", firstAxis);
        String biasScale = model.floats(scales.length == 1, products(from.scale(), scales));
        String b = model.node("DequantizeLinear", List.of(bias, biasScale), "b", firstAxis);
        String sum = model.node("Conv", List.of(x, w, b), "sum", attributes);
        quantized(name.equals("Conv") ? sum : model.node("Relu", List.of(sum), "limited", Map.of()), to);
    }

    private double weightScale() {
        return isPowerOfTwo ? 1.0 / 128 : 0.002 + 0.02 * random.nextDouble();
    }

    private String bias(int units) {
        return model.words(random.ints(units, -3000, 3000).toArray());
    }

    private void product() {
        int rows = upTo(4);
        int depth = upTo(40);
        int units = upTo(12);
        Scale from = scale(0.01, 0.2);
        Scale to = scale(0.05, 0.5);
        String bytes = constant(INT8, List.of(depth, units));
        float weightScale = isPowerOfTwo ? 1f / 64 : (float) weightScale();
        List<String> weights = weights(bytes, weightScale);
        if (name.startsWith("Q")) {
            boolean isGemm = name.equals("QGemm");
            List<String> inputs = input("x", List.of(rows, depth), from);
            inputs.addAll(weights);
            inputs.addAll(isGemm ? List.of(coin() ? "" : bias(units)) : List.of());
            inputs.addAll(parameters(to));
            endWithBytes(
                    isGemm ? MICROSOFT : "", name, inputs, isGemm ? Map.of("alpha", coin() ? 1f : 0.3f) : Map.of());
            return;
        }
        String x = real("x", List.of(rows, depth), from);
        String w = model.node("DequantizeLinear", weights, "w", Map.of());
        String biasScale = model.floats(true, from.scale() * weightScale);
        String b = model.node("DequantizeLinear", List.of(bias(units), biasScale), "b", Map.of());
        quantized(model.node("Gemm", List.of(x, w, b), "sum", Map.of()), to);
    }

    private void fusedPair() {
        List<Integer> dims = List.of(upTo(40), upTo(40));
        List<String> inputs = input("x", dims, scale(0.01, 0.1));
        inputs.addAll(input("y", dims, scale(0.01, 0.1)));
        inputs.addAll(parameters(scale(0.01, 0.2)));
        endWithBytes(MICROSOFT, name, inputs, Map.of());
    }

    private void pair() {
        List<Integer> dims = List.of(upTo(6), upTo(40));
        List<Integer> row = coin() ? dims : List.of(1, dims.get(1));
        String x = real("x", dims, scale(0.01, 0.1));
        String y = real("y", row, scale(0.01, 0.1));
        quantized(model.node(name, List.of(x, y), "sum", Map.of()), scale(0.01, 0.2));
    }

    private void pool() {
        int kernel = upTo(3);
        int size = kernel + below(5);
        int channels = upTo(6);
        Scale from = scale(0.01, 0.1);
        Scale to = coin() ? from : scale(0.005, 0.1);
        String x = real("x", List.of(1, channels, size, size), from);
        boolean isGlobal = name.startsWith("Global");
        Map<String, Object> attributes = isGlobal ? Map.of() : Map.of("kernel_shape", pair(kernel, kernel));
        quantized(model.node(name, List.of(x), "pooled", attributes), to);
    }

    private void fusedPool() {
        int kernel = upTo(3);
        int size = kernel + below(5);
        int channels = upTo(6);
        List<String> inputs = input("x", List.of(1, channels, size, size), scale(0.01, 0.1));
        inputs.addAll(parameters(scale(0.005, 0.1)));
        Map<String, Object> attributes = name.contains("Global")
                ? Map.of("channels_last", 0L)
                : Map.of("channels_last", 0L, "kernel_shape", pair(kernel, kernel));
        endWithBytes(MICROSOFT, name, inputs, attributes);
    }

    private void fusedFunction() {
        List<Integer> dims = List.of(upTo(4), 1 + upTo(12));
        List<String> inputs = input("x", dims, scale(0.01, 0.2));
        boolean isSoftmax = name.equals("QLinearSoftmax");
        inputs.addAll(parameters(isSoftmax ? new Scale(1f / 256, -128) : scale(0.01, 0.2)));
        endWithBytes(MICROSOFT, name, inputs, isSoftmax ? Map.of("axis", 1L, "opset", 13L) : Map.of("alpha", 0.1f));
    }

    private void concatenation() {
        Scale from = scale(0.01, 0.1);
        Scale other = coin() ? from : scale(0.01, 0.1);
        Scale to = coin() ? from : scale(0.01, 0.1);
        int rows = upTo(4);
        String x = real("x", List.of(rows, 5), from);
        String y = real("y", List.of(rows, 3), other);
        quantized(model.node("Concat", List.of(x, y), "both", Map.of("axis", 1L)), to);
    }

    private void fusedConcatenation() {
        Scale to = scale(0.01, 0.1);
        int rows = upTo(4);
        List<String> inputs = new ArrayList<>(parameters(to));
        for (String part : List.of("x", "y", "z")) {
            int columns = upTo(9);
            inputs.addAll(input(part, List.of(rows, columns), coin() ? to : scale(0.01, 0.1)));
        }
        endWithBytes(MICROSOFT, name, inputs, Map.of("axis", -1L));
    }

    private void function() {
        int rows = upTo(4);
        int columns = upTo(40);
        Scale from = scale(0.01, 0.1);
        Scale to = coin() ? from : scale(0.01, 0.1);
        String x = real("x", List.of(rows, columns), from);
        String result = switch (name) {
            case "Rescale" -> x;
            case "LeakyRelu" -> model.node(name, List.of(x), "y", Map.of("alpha", 0.1f));
            case "Clip" ->
                model.node(name, List.of(x, model.floats(true, -0.5f), model.floats(true, 1.5f)), "y", Map.of());
            case "Reshape" -> model.node(name, List.of(x, model.longs(List.of(columns, rows))), "y", Map.of());
            default -> model.node(name, List.of(x), "y", Map.of());
        };
        quantized(result, to);
    }

    /** A zero point that is known, or an input. */
    private String zeroOf(ElementType data) {
        return coin() ? anyZero(data) : model.input("zero", data, List.of());
    }

    private String anyZero(ElementType of) {
        return model.bytes(of, true, of == INT8 ? zero() : below(256));
    }

    private void sumsOfMatrices() {
        int rows = upTo(4);
        int depth = upTo(40);
        List<Integer> dims = List.of(depth, upTo(12));
        List<String> inputs = new ArrayList<>(List.of(model.input("x", type, List.of(rows, depth))));
        boolean isComputed = below(3) == 0;
        ElementType ofWeight = isComputed ? UINT8 : INT8;
        inputs.add(isComputed ? model.input("w", ofWeight, dims) : constant(ofWeight, dims));
        inputs.add(zeroOf(type));
        boolean hasSeveral = coin();
        int[] zeros = random.ints(hasSeveral ? dims.get(1) : 1, 0, 8).toArray();
        inputs.add(model.bytes(ofWeight, !hasSeveral, zeros));
        model.output(model.node(name, inputs, "sums", Map.of()), INT32);
    }

    private void sumsOfFilter() {
        int channels = upTo(4);
        int outputs = upTo(5);
        int size = 3 + below(4);
        Map<String, Object> attributes = Map.of("pads", Collections.nCopies(4, bit()));
        List<String> inputs = List.of(
                model.input("x", UINT8, List.of(1, channels, size, size)),
                constant(UINT8, List.of(outputs, channels, 3, 3)),
                zeroOf(UINT8),
                anyZero(UINT8));
        model.output(model.node(name, inputs, "sums", attributes), INT32);
    }

    /** What ONNX Runtime's dynamic quantization makes of a fully connected layer. */
    private void dynamic() {
        int depth = upTo(40);
        int units = upTo(12);
        String x = x(List.of(2, depth));
        model.node("", name, List.of(x), List.of("data", "scale", "zero"), Map.of());
        String weight = constant(INT8, List.of(depth, units));
        List<String> inputs = List.of("data", weight, "zero", model.bytes(INT8, true, 0));
        String sums = model.node("MatMulInteger", inputs, "sums", Map.of());
        String reals = model.node("Cast", List.of(sums), "reals", Map.of("to", 1L));
        String scale = model.node("Mul", List.of("scale", model.floats(true, 0.013f)), "both", Map.of());
        end("Mul", List.of(reals, scale), Map.of());
    }
}
