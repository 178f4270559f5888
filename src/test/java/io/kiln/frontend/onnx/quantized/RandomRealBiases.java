// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static io.kiln.frontend.onnx.model.ElementType.INT8;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Draws quantized layers whose bias is a float, or has a scale of its own. */
public final class RandomRealBiases extends QuantizedDraw {
    private static final List<String> LAYERS =
            List.of("Conv", "Gemm", "MatMul+Add", "ConvTranspose", "depthwise Conv", "Conv of a line");

    private final boolean isPowerOfTwo;
    private final float from;

    private RandomRealBiases(long seed) {
        super(seed, LAYERS.size(), 13);
        this.isPowerOfTwo = below(4) == 0;
        this.from = scale(0.01, 0.2);
    }

    /** The model of a number; layers take turns. */
    public static Model draw(long seed) {
        RandomRealBiases drawn = new RandomRealBiases(seed);
        String layer = LAYERS.get((int) (seed % LAYERS.size()));
        switch (layer) {
            case "Gemm" -> drawn.gemm();
            case "MatMul+Add" -> drawn.product();
            case "ConvTranspose" -> drawn.transposed();
            default -> drawn.convolution(layer);
        }
        return drawn.named(layer + " with a real bias");
    }

    private float scale(double low, double high) {
        return scale(low, high, isPowerOfTwo);
    }

    private Scale zeroed(float scale) {
        return new Scale(scale, below(4) == 0 ? 0 : zero());
    }

    private String real(List<Integer> dims) {
        return real("x", dims, zeroed(from));
    }

    private String weight(List<Integer> dims, int axis) {
        List<String> inputs =
                weights(constant(INT8, dims), reals(coin() ? 1 : dims.get(axis), () -> scale(0.002, 0.02)));
        return model.node("DequantizeLinear", inputs, "w", Map.of("axis", (long) axis));
    }

    /** Floats of a few times the result's step, sometimes on the grid of halves; or words on another scale. */
    private String bias(int channels, float to) {
        if (below(4) == 0) {
            String words = model.words(random.ints(channels, -3000, 3000).toArray());
            return model.node(
                    "DequantizeLinear", List.of(words, model.floats(true, scale(0.0001, 0.001))), "b", Map.of());
        }
        boolean isOnGrid = below(4) == 0;
        return constant(List.of(channels), () -> {
            double steps = 60 * random.nextGaussian();
            return to * (isOnGrid ? Math.rint(2 * steps) / 2 : steps);
        });
    }

    private void end(String sum, float to) {
        String result = below(3) == 0 ? model.node("Relu", List.of(sum), "limited", Map.of()) : sum;
        quantized(result, zeroed(to));
    }

    private float to(int terms) {
        return scale(0.005 * Math.sqrt(terms), 0.1 * Math.sqrt(terms));
    }

    private void convolution(String layer) {
        boolean isLine = layer.endsWith("line");
        boolean isDepthwise = layer.startsWith("depthwise");
        int channels = upTo(9);
        int outputs = isDepthwise ? channels : upTo(9);
        int kernel = upTo(3);
        int size = kernel + below(6);
        int perGroup = isDepthwise ? 1 : channels;
        List<Integer> data = isLine ? List.of(1, channels, size) : List.of(1, channels, size, size);
        List<Integer> filter = isLine ? List.of(outputs, perGroup, kernel) : List.of(outputs, perGroup, kernel, kernel);
        int axes = isLine ? 1 : 2;
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put("kernel_shape", Collections.nCopies(axes, (long) kernel));
        attributes.put("pads", Collections.nCopies(2 * axes, (long) below(kernel)));
        attributes.put("strides", Collections.nCopies(axes, (long) upTo(2)));
        attributes.put("group", (long) (isDepthwise ? channels : 1));
        int terms = perGroup * kernel * (isLine ? 1 : kernel);
        float to = to(terms);
        List<String> inputs = List.of(real(data), weight(filter, 0), bias(outputs, to));
        end(model.node("Conv", inputs, "sum", attributes), to);
    }

    private void transposed() {
        int channels = upTo(5);
        int outputs = upTo(5);
        int kernel = upTo(3);
        long stride = upTo(2);
        int size = upTo(5);
        float to = to(channels * kernel);
        String weight = weight(List.of(channels, outputs, kernel, kernel), 1);
        List<String> inputs = List.of(real(List.of(1, channels, size, size)), weight, bias(outputs, to));
        Map<String, Object> attributes = Map.of("strides", List.of(stride, stride));
        end(model.node("ConvTranspose", inputs, "sum", attributes), to);
    }

    private void gemm() {
        int rows = upTo(4);
        int depth = upTo(60);
        int units = upTo(12);
        boolean isTransposed = coin();
        float to = to(depth);
        String weight = weight(isTransposed ? List.of(units, depth) : List.of(depth, units), isTransposed ? 0 : 1);
        Map<String, Object> attributes = new LinkedHashMap<>(Map.of("transB", isTransposed ? 1L : 0L));
        if (below(4) == 0) {
            attributes.putAll(Map.of("alpha", 0.5f, "beta", 0.25f));
        }
        boolean isOne = below(5) == 0;
        String bias = isOne ? model.floats(coin(), 3.3f * to) : bias(units, to);
        List<String> inputs = List.of(real(List.of(rows, depth)), weight, bias);
        end(model.node("Gemm", inputs, "sum", attributes), to);
    }

    private void product() {
        int depth = upTo(60);
        int units = upTo(12);
        float to = to(depth);
        boolean isStack = coin();
        String data = real(isStack ? List.of(2, 3, depth) : List.of(3, depth));
        String product = isStack && coin()
                ? model.node("MatMul", List.of(data, computed(depth, units)), "product", Map.of())
                : model.node("MatMul", List.of(data, weight(List.of(depth, units), 1)), "product", Map.of());
        String bias = bias(units, to);
        List<String> terms = coin() ? List.of(product, bias) : List.of(bias, product);
        end(model.node("Add", terms, "sum", Map.of()), to);
    }

    /** A stack of matrices that is an input. */
    private String computed(int depth, int units) {
        return real("y", List.of(2, depth, units), zeroed(scale(0.002, 0.02)));
    }
}
