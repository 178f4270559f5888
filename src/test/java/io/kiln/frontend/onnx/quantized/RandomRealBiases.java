// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static io.kiln.frontend.onnx.model.ElementType.INT8;
import static io.kiln.frontend.onnx.model.ElementType.UINT8;

import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.model.ElementType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Draws quantized layers whose bias is a float, or has a scale of its own. */
public final class RandomRealBiases {
    private static final List<String> LAYERS =
            List.of("Conv", "Gemm", "MatMul+Add", "ConvTranspose", "depthwise Conv", "Conv of a line");

    private final Random random;
    private final ElementType type;
    private final ModelBuilder model = new ModelBuilder(13);
    private final boolean isPowerOfTwo;
    private final float from;
    private float[] weightScales = {};

    private RandomRealBiases(long seed) {
        this.random = new Random(seed);
        this.type = random.nextBoolean() ? UINT8 : INT8;
        this.isPowerOfTwo = random.nextInt(4) == 0;
        this.from = scale(0.01, 0.2);
    }

    /** The model of a number; layers take turns. */
    public static RandomModels.Model draw(long seed) {
        RandomRealBiases drawn = new RandomRealBiases(seed);
        String layer = LAYERS.get((int) (seed % LAYERS.size()));
        switch (layer) {
            case "Gemm" -> drawn.gemm();
            case "MatMul+Add" -> drawn.product();
            case "ConvTranspose" -> drawn.transposed();
            default -> drawn.convolution(layer);
        }
        return new RandomModels.Model(layer + " with a real bias", drawn.model.build());
    }

    private float scale(double low, double high) {
        double scale = low * Math.pow(high / low, random.nextDouble());
        return isPowerOfTwo ? (float) Math.scalb(1.0, Math.getExponent(scale)) : (float) scale;
    }

    private List<String> parameters(float scale) {
        int zero = random.nextInt(4) == 0 ? 0 : random.nextInt(256) - 128;
        return List.of(
                model.floats(true, scale), model.bytes(type, true, type == UINT8 ? zero - Byte.MIN_VALUE : zero));
    }

    private String real(List<Integer> dims) {
        List<String> inputs = new ArrayList<>(List.of(model.input("x", type, dims)));
        inputs.addAll(parameters(from));
        return model.node("DequantizeLinear", inputs, "real", Map.of());
    }

    private String weight(List<Integer> dims, int axis, boolean mayHaveSeveral) {
        byte[] bytes = new byte[dims.stream().reduce(1, (a, b) -> a * b)];
        random.nextBytes(bytes);
        boolean isOne = !mayHaveSeveral || random.nextBoolean();
        weightScales = new float[isOne ? 1 : dims.get(axis)];
        for (int i = 0; i < weightScales.length; i++) {
            weightScales[i] = scale(0.002, 0.02);
        }
        return model.node(
                "DequantizeLinear",
                List.of(
                        model.constant(INT8, dims, bytes),
                        model.floats(isOne, weightScales),
                        model.bytes(INT8, isOne, new int[weightScales.length])),
                "w",
                Map.of("axis", (long) axis));
    }

    /** Floats of a few times the result's step, sometimes on the grid of halves; or words on another scale. */
    private String bias(int channels, float to) {
        if (random.nextInt(4) == 0) {
            String words = model.words(random.ints(channels, -3000, 3000).toArray());
            return model.node(
                    "DequantizeLinear", List.of(words, model.floats(true, scale(0.0001, 0.001))), "b", Map.of());
        }
        float[] bias = new float[channels];
        boolean isOnGrid = random.nextInt(4) == 0;
        for (int c = 0; c < channels; c++) {
            double steps = 60 * random.nextGaussian();
            bias[c] = (float) (to * (isOnGrid ? Math.rint(2 * steps) / 2 : steps));
        }
        return model.floats(false, bias);
    }

    private void end(String sum, float to) {
        String result = random.nextInt(3) == 0 ? model.node("Relu", List.of(sum), "limited", Map.of()) : sum;
        List<String> inputs = new ArrayList<>(List.of(result));
        inputs.addAll(parameters(to));
        model.output(model.node("QuantizeLinear", inputs, "result", Map.of()), type);
    }

    private float to(int terms) {
        return scale(0.005 * Math.sqrt(terms), 0.1 * Math.sqrt(terms));
    }

    private void convolution(String layer) {
        boolean isLine = layer.endsWith("line");
        boolean isDepthwise = layer.startsWith("depthwise");
        int channels = 1 + random.nextInt(9);
        int outputs = isDepthwise ? channels : 1 + random.nextInt(9);
        int kernel = 1 + random.nextInt(3);
        int size = kernel + random.nextInt(6);
        int perGroup = isDepthwise ? 1 : channels;
        List<Integer> data = isLine ? List.of(1, channels, size) : List.of(1, channels, size, size);
        List<Integer> filter = isLine ? List.of(outputs, perGroup, kernel) : List.of(outputs, perGroup, kernel, kernel);
        long pad = random.nextInt(kernel);
        long stride = 1L + random.nextInt(2);
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put("kernel_shape", isLine ? List.of((long) kernel) : List.of((long) kernel, (long) kernel));
        attributes.put("pads", isLine ? List.of(pad, pad) : List.of(pad, pad, pad, pad));
        attributes.put("strides", isLine ? List.of(stride) : List.of(stride, stride));
        attributes.put("group", (long) (isDepthwise ? channels : 1));
        int terms = perGroup * kernel * (isLine ? 1 : kernel);
        float to = to(terms);
        List<String> inputs = List.of(real(data), weight(filter, 0, true), bias(outputs, to));
        end(model.node("Conv", inputs, "sum", attributes), to);
    }

    private void transposed() {
        int channels = 1 + random.nextInt(5);
        int outputs = 1 + random.nextInt(5);
        int kernel = 1 + random.nextInt(3);
        long stride = 1L + random.nextInt(2);
        int size = 1 + random.nextInt(5);
        float to = to(channels * kernel);
        String weight = weight(List.of(channels, outputs, kernel, kernel), 1, true);
        List<String> inputs = List.of(real(List.of(1, channels, size, size)), weight, bias(outputs, to));
        Map<String, Object> attributes = Map.of("strides", List.of(stride, stride));
        end(model.node("ConvTranspose", inputs, "sum", attributes), to);
    }

    private void gemm() {
        int rows = 1 + random.nextInt(4);
        int depth = 1 + random.nextInt(60);
        int units = 1 + random.nextInt(12);
        boolean isTransposed = random.nextBoolean();
        float to = to(depth);
        String weight =
                weight(isTransposed ? List.of(units, depth) : List.of(depth, units), isTransposed ? 0 : 1, true);
        Map<String, Object> attributes = new LinkedHashMap<>(Map.of("transB", isTransposed ? 1L : 0L));
        if (random.nextInt(4) == 0) {
            attributes.putAll(Map.of("alpha", 0.5f, "beta", 0.25f));
        }
        boolean isOne = random.nextInt(5) == 0;
        String bias = isOne ? model.floats(random.nextBoolean(), 3.3f * to) : bias(units, to);
        List<String> inputs = List.of(real(List.of(rows, depth)), weight, bias);
        end(model.node("Gemm", inputs, "sum", attributes), to);
    }

    private void product() {
        int depth = 1 + random.nextInt(60);
        int units = 1 + random.nextInt(12);
        float to = to(depth);
        boolean isStack = random.nextBoolean();
        String data = real(isStack ? List.of(2, 3, depth) : List.of(3, depth));
        String product = isStack && random.nextBoolean()
                ? model.node("MatMul", List.of(data, computed(depth, units)), "product", Map.of())
                : model.node("MatMul", List.of(data, weight(List.of(depth, units), 1, true)), "product", Map.of());
        String bias = bias(units, to);
        List<String> terms = random.nextBoolean() ? List.of(product, bias) : List.of(bias, product);
        end(model.node("Add", terms, "sum", Map.of()), to);
    }

    /** A stack of matrices that is an input. */
    private String computed(int depth, int units) {
        List<String> inputs = new ArrayList<>(List.of(model.input("y", type, List.of(2, depth, units))));
        inputs.addAll(parameters(scale(0.002, 0.02)));
        return model.node("DequantizeLinear", inputs, "w", Map.of());
    }
}
