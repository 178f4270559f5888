// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static io.kiln.frontend.onnx.model.ElementType.INT8;
import static io.kiln.frontend.onnx.model.ElementType.UINT8;

import io.kiln.base.Bytes;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.model.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Draws quantized models of one operator, in both formats. */
public final class RandomModels {
    private static final String MICROSOFT = "com.microsoft";

    /** Quantization of a tensor. */
    private record Scale(float scale, int zeroPoint) {}

    private final Random random;
    private final ModelBuilder model = new ModelBuilder(13);
    private final ElementType type;
    private final boolean isPowerOfTwo;
    private final String name;

    /** ONNX Runtime's own operators for pairs of quantizations, in every fifth model. */
    private final String domain;

    private RandomModels(long seed) {
        this.random = new Random(seed);
        this.type = random.nextBoolean() ? UINT8 : INT8;
        this.isPowerOfTwo = random.nextInt(4) == 0;
        this.domain = seed % 5 == 4 ? MICROSOFT : "";
        this.name = OPERATORS.get((int) (seed % OPERATORS.size()));
    }

    /** Operators, which take turns. */
    private static final List<String> OPERATORS = List.of("""
            QLinearConv Conv QLinearMatMul QGemm Gemm QLinearConcat QLinearAdd QLinearMul Add Sub Mul Div
            Min Max Relu LeakyRelu Clip Abs MaxPool AveragePool QLinearAveragePool GlobalAveragePool
            QLinearGlobalAveragePool QLinearLeakyRelu QLinearSoftmax Concat Reshape Transpose Conv+Relu
            Rescale MatMulInteger ConvInteger DynamicQuantizeLinear
            """.strip().split("\\s+", -1));

    /**
     * A model.
     *
     * @param name its operator
     */
    public record Model(String name, Bytes file) {}

    /** The model of a number; operators take turns. */
    public static Model draw(long seed) {
        RandomModels drawn = new RandomModels(seed);
        drawn.build();
        return new Model(drawn.name + (drawn.isPowerOfTwo ? " with powers of two" : ""), drawn.model.build());
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
            case "MatMulInteger", "ConvInteger", "DynamicQuantizeLinear" ->
                new RandomIntegerSums(model, random, type).draw(name);
            default -> function();
        }
    }

    private Scale scale(double low, double high) {
        double scale = low * Math.pow(high / low, random.nextDouble());
        float drawn = isPowerOfTwo ? (float) Math.scalb(1.0, Math.getExponent(scale)) : (float) scale;
        int middle = random.nextInt(3) == 0 ? 0 : random.nextInt(256) - 128;
        return new Scale(drawn, type == UINT8 ? middle + 128 : middle);
    }

    private List<String> parameters(Scale scale) {
        return List.of(model.floats(true, scale.scale), model.bytes(type, true, scale.zeroPoint));
    }

    /** An input, dequantized. */
    private String real(String input, List<Integer> dims, Scale scale) {
        List<String> inputs = new ArrayList<>(List.of(model.input(input, type, dims)));
        inputs.addAll(parameters(scale));
        return model.node(domain, "DequantizeLinear", inputs, input + "_real", Map.of());
    }

    private void quantized(String real, List<Integer> dims, Scale scale) {
        List<String> inputs = new ArrayList<>(List.of(real));
        inputs.addAll(parameters(scale));
        model.output(model.node(domain, "QuantizeLinear", inputs, "result", Map.of()), type, dims);
    }

    private byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }

    private void convolution() {
        int channels = 1 + random.nextInt(9);
        int kernel = 1 + random.nextInt(3);
        int size = kernel + random.nextInt(6);
        boolean isDepthwise = random.nextInt(3) == 0;
        int outputs = isDepthwise ? channels : 1 + random.nextInt(9);
        int pad = random.nextInt(kernel);
        int stride = 1 + random.nextInt(2);
        int out = (size + 2 * pad - kernel) / stride + 1;
        int taps = (isDepthwise ? 1 : channels) * kernel * kernel;
        Scale from = scale(0.01, 0.2);
        Scale to = scale(0.02 * Math.sqrt(taps), 0.2 * Math.sqrt(taps));
        float[] scales = weightScales(random.nextBoolean() ? outputs : 1);
        List<Integer> weightDims = List.of(outputs, isDepthwise ? 1 : channels, kernel, kernel);
        String weight = model.constant(INT8, weightDims, bytes(outputs * taps));
        String weightScale = model.floats(scales.length == 1, scales);
        String weightZero = model.bytes(INT8, scales.length == 1, new int[scales.length]);
        int[] bias = random.ints(outputs, -3000, 3000).toArray();
        Map<String, Object> attributes = ModelBuilder.window(kernel, pad, stride);
        attributes.put("group", (long) (isDepthwise ? channels : 1));
        List<Integer> dims = List.of(1, channels, size, size);
        List<Integer> results = List.of(1, outputs, out, out);
        List<String> weights = List.of(weight, weightScale, weightZero);
        if (name.equals("QLinearConv")) {
            List<String> inputs = quantizedInput(dims, from);
            inputs.addAll(weights);
            inputs.addAll(parameters(to));
            inputs.add(model.words(bias));
            model.output(model.node("QLinearConv", inputs, "result", attributes), type, results);
            return;
        }
        String x = real("x", dims, from);
        Map<String, Object> firstAxis = Map.of("axis", 0L);
        String w = model.node("DequantizeLinear", weights, "w", firstAxis);
        float[] biasScales = products(from.scale, scales);
        String biasScale = model.floats(scales.length == 1, biasScales);
        String b = model.node("DequantizeLinear", List.of(model.words(bias), biasScale), "b", firstAxis);
        String sum = model.node("Conv", List.of(x, w, b), "sum", attributes);
        quantized(name.equals("Conv") ? sum : model.node("Relu", List.of(sum), "limited", Map.of()), results, to);
    }

    private static float[] products(float factor, float[] values) {
        float[] products = values.clone();
        for (int i = 0; i < products.length; i++) {
            products[i] *= factor;
        }
        return products;
    }

    private float[] weightScales(int count) {
        float[] scales = new float[count];
        for (int i = 0; i < count; i++) {
            scales[i] = isPowerOfTwo ? 1f / 128 : (float) (0.002 + 0.02 * random.nextDouble());
        }
        return scales;
    }

    private void product() {
        int rows = 1 + random.nextInt(4);
        int depth = 1 + random.nextInt(40);
        int units = 1 + random.nextInt(12);
        Scale from = scale(0.01, 0.2);
        Scale to = scale(0.05, 0.5);
        String weight = model.constant(INT8, List.of(depth, units), bytes(depth * units));
        float weightScale = isPowerOfTwo ? 1f / 64 : (float) (0.002 + 0.02 * random.nextDouble());
        String weightScales = model.floats(true, weightScale);
        String weightZero = model.bytes(INT8, true, 0);
        if (name.startsWith("Q")) {
            boolean isGemm = name.equals("QGemm");
            List<String> inputs = quantizedInput(List.of(rows, depth), from);
            inputs.addAll(List.of(weight, weightScales, weightZero));
            inputs.addAll(isGemm ? List.of(random.nextBoolean() ? "" : bias(units)) : List.of());
            inputs.addAll(parameters(to));
            Map<String, Object> attributes = isGemm ? Map.of("alpha", random.nextBoolean() ? 1f : 0.3f) : Map.of();
            String result = model.node(isGemm ? MICROSOFT : "", name, inputs, "result", attributes);
            model.output(result, type, List.of(rows, units));
            return;
        }
        String x = real("x", List.of(rows, depth), from);
        String w = model.node("DequantizeLinear", List.of(weight, weightScales, weightZero), "w", Map.of());
        String biasScale = model.floats(true, from.scale * weightScale);
        String b = model.node("DequantizeLinear", List.of(bias(units), biasScale), "b", Map.of());
        quantized(model.node("Gemm", List.of(x, w, b), "sum", Map.of()), List.of(rows, units), to);
    }

    private String bias(int units) {
        return model.words(random.ints(units, -3000, 3000).toArray());
    }

    private void fusedPair() {
        List<Integer> dims = List.of(1 + random.nextInt(40), 1 + random.nextInt(40));
        List<String> inputs = quantizedInput(dims, scale(0.01, 0.1));
        inputs.add(model.input("y", type, dims));
        inputs.addAll(parameters(scale(0.01, 0.1)));
        inputs.addAll(parameters(scale(0.01, 0.2)));
        model.output(model.node(MICROSOFT, name, inputs, "result", Map.of()), type, dims);
    }

    private void pair() {
        List<Integer> dims = List.of(1 + random.nextInt(6), 1 + random.nextInt(40));
        List<Integer> row = random.nextBoolean() ? dims : List.of(1, dims.get(1));
        String x = real("x", dims, scale(0.01, 0.1));
        String y = real("y", row, scale(0.01, 0.1));
        quantized(model.node(name, List.of(x, y), "sum", Map.of()), dims, scale(0.01, 0.2));
    }

    private void pool() {
        int kernel = 1 + random.nextInt(3);
        int size = kernel + random.nextInt(5);
        int channels = 1 + random.nextInt(6);
        Scale from = scale(0.01, 0.1);
        Scale to = random.nextBoolean() ? from : scale(0.005, 0.1);
        String x = real("x", List.of(1, channels, size, size), from);
        boolean isGlobal = name.startsWith("Global");
        int out = isGlobal ? 1 : size - kernel + 1;
        Map<String, Object> attributes =
                isGlobal ? Map.of() : Map.of("kernel_shape", List.of((long) kernel, (long) kernel));
        quantized(model.node(name, List.of(x), "pooled", attributes), List.of(1, channels, out, out), to);
    }

    private void fusedPool() {
        int kernel = 1 + random.nextInt(3);
        int size = kernel + random.nextInt(5);
        int channels = 1 + random.nextInt(6);
        boolean isGlobal = name.contains("Global");
        int out = isGlobal ? 1 : size - kernel + 1;
        List<String> inputs = quantizedInput(List.of(1, channels, size, size), scale(0.01, 0.1));
        inputs.addAll(parameters(scale(0.005, 0.1)));
        Map<String, Object> attributes = isGlobal
                ? Map.of("channels_last", 0L)
                : Map.of("channels_last", 0L, "kernel_shape", List.of((long) kernel, (long) kernel));
        model.output(model.node(MICROSOFT, name, inputs, "result", attributes), type, List.of(1, channels, out, out));
    }

    private List<String> quantizedInput(List<Integer> dims, Scale from) {
        List<String> inputs = new ArrayList<>(List.of(model.input("x", type, dims)));
        inputs.addAll(parameters(from));
        return inputs;
    }

    private void fusedFunction() {
        List<Integer> dims = List.of(1 + random.nextInt(4), 2 + random.nextInt(12));
        List<String> inputs = quantizedInput(dims, scale(0.01, 0.2));
        boolean isSoftmax = name.equals("QLinearSoftmax");
        inputs.addAll(parameters(isSoftmax ? new Scale(1f / 256, type == UINT8 ? 0 : -128) : scale(0.01, 0.2)));
        Map<String, Object> attributes = isSoftmax ? Map.of("axis", 1L, "opset", 13L) : Map.of("alpha", 0.1f);
        model.output(model.node(MICROSOFT, name, inputs, "result", attributes), type, dims);
    }

    private void concatenation() {
        Scale from = scale(0.01, 0.1);
        Scale other = random.nextBoolean() ? from : scale(0.01, 0.1);
        Scale to = random.nextBoolean() ? from : scale(0.01, 0.1);
        int rows = 1 + random.nextInt(4);
        String x = real("x", List.of(rows, 5), from);
        String y = real("y", List.of(rows, 3), other);
        quantized(model.node("Concat", List.of(x, y), "both", Map.of("axis", 1L)), List.of(rows, 8), to);
    }

    private void fusedConcatenation() {
        Scale to = scale(0.01, 0.1);
        int rows = 1 + random.nextInt(4);
        List<String> inputs = new ArrayList<>(parameters(to));
        int columns = 0;
        for (String part : List.of("x", "y", "z")) {
            int own = 1 + random.nextInt(9);
            inputs.add(model.input(part, type, List.of(rows, own)));
            inputs.addAll(parameters(random.nextBoolean() ? to : scale(0.01, 0.1)));
            columns += own;
        }
        String joined = model.node(MICROSOFT, name, inputs, "result", Map.of("axis", -1L));
        model.output(joined, type, List.of(rows, columns));
    }

    private void function() {
        int rows = 1 + random.nextInt(4);
        int columns = 1 + random.nextInt(40);
        Scale from = scale(0.01, 0.1);
        Scale to = random.nextBoolean() ? from : scale(0.01, 0.1);
        String x = real("x", List.of(rows, columns), from);
        List<Integer> dims =
                name.equals("Reshape") || name.equals("Transpose") ? List.of(columns, rows) : List.of(rows, columns);
        String result = switch (name) {
            case "Rescale" -> x;
            case "LeakyRelu" -> model.node(name, List.of(x), "y", Map.of("alpha", 0.1f));
            case "Clip" ->
                model.node(name, List.of(x, model.floats(true, -0.5f), model.floats(true, 1.5f)), "y", Map.of());
            case "Reshape" -> model.node(name, List.of(x, model.longs(dims)), "y", Map.of());
            default -> model.node(name, List.of(x), "y", Map.of());
        };
        quantized(result, dims, to);
    }
}
