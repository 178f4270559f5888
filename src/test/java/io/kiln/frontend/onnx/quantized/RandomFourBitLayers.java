// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static io.kiln.frontend.onnx.model.ElementType.INT8;
import static io.kiln.frontend.onnx.model.ElementType.UINT8;

import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.model.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Draws layers of bytes whose weights are dequantized from four or eight bits, with scales and zero points of channels or of the whole. */
public final class RandomFourBitLayers extends QuantizedDraw {
    private static final int OPSET = 21;
    private static final float DATA_SCALE = 0.05f;

    private final ElementType weightType;
    private final boolean isOfChannels;
    private float[] scales = {};

    private RandomFourBitLayers(long seed, ElementType signed, ElementType unsigned) {
        super(seed, 3, OPSET);
        this.weightType = coin() ? signed : unsigned;
        this.isOfChannels = coin();
    }

    /** The model of a number. */
    public static Model draw(long seed) {
        return draw(seed, new RandomFourBitLayers(seed, ElementType.INT4, ElementType.UINT4));
    }

    /** The same with weights of eight bits, whose zero points are anywhere. */
    static Model drawOfBytes(long seed) {
        return draw(seed, new RandomFourBitLayers(seed, INT8, UINT8));
    }

    private static Model draw(long seed, RandomFourBitLayers drawn) {
        String name = List.of("MatMul", "Gemm", "Conv").get((int) (seed % 3));
        if (name.equals("Conv")) {
            drawn.convolution();
        } else {
            drawn.matrix(name);
        }
        return drawn.named(name + " of " + drawn.weightType.text());
    }

    private String real(List<Integer> dims) {
        return real("x", dims, new Scale(DATA_SCALE, zero()));
    }

    private String weights(List<Integer> dims, int axis) {
        int channels = isOfChannels ? dims.get(axis) : 1;
        scales = reals(channels, () -> (0.1f + random.nextFloat()) / (1 << weightType.bits()));
        List<String> inputs = new ArrayList<>(List.of(constant(weightType, dims), model.floats(!isOfChannels, scales)));
        if (coin()) {
            inputs.add(constant(weightType, isOfChannels ? List.of(channels) : List.of()));
        }
        return model.node("DequantizeLinear", inputs, "w", Map.of("axis", (long) axis));
    }

    /** The inputs of a layer, in half of all models with a bias on the scale of the sums. */
    private List<String> inputs(String x, String w, int channels) {
        if (coin()) {
            return List.of(x, w);
        }
        String words = model.words(random.ints(channels, -2000, 2000).toArray());
        List<String> bias = List.of(words, model.floats(!isOfChannels, products(DATA_SCALE, scales)));
        return List.of(x, w, model.node("DequantizeLinear", bias, "b", Map.of("axis", 0L)));
    }

    private void quantized(String real, int taps) {
        float scale = (float) (0.08 * Math.sqrt(taps) * (0.5 + random.nextDouble()));
        quantized(real, new Scale(scale, zero()));
    }

    private void matrix(String name) {
        int depth = upTo(90);
        int units = upTo(21);
        boolean isTransposed = name.equals("Gemm") && coin();
        String x = real(List.of(upTo(3), depth));
        String w = isTransposed ? weights(List.of(units, depth), 0) : weights(List.of(depth, units), 1);
        Map<String, Object> attributes = name.equals("Gemm") ? Map.of("transB", isTransposed ? 1L : 0L) : Map.of();
        List<String> inputs = name.equals("Gemm") ? inputs(x, w, units) : List.of(x, w);
        quantized(model.node(name, inputs, "sum", attributes), depth);
    }

    private void convolution() {
        int channels = upTo(9);
        int kernel = upTo(3);
        int size = kernel + below(5);
        boolean isDepthwise = below(3) == 0;
        int outputs = isDepthwise ? channels : upTo(9);
        int depth = isDepthwise ? 1 : channels;
        String x = real(List.of(1, channels, size, size));
        String w = weights(List.of(outputs, depth, kernel, kernel), 0);
        Map<String, Object> attributes = ModelBuilder.window(kernel, below(kernel), upTo(2));
        attributes.put("group", (long) (isDepthwise ? channels : 1));
        quantized(model.node("Conv", inputs(x, w, outputs), "sum", attributes), depth * kernel * kernel);
    }
}
