// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static io.kiln.frontend.onnx.model.ElementType.INT8;
import static io.kiln.frontend.onnx.model.ElementType.UINT8;

import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.model.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Draws layers of bytes whose weights are dequantized from four or eight bits, with scales and zero points of channels or of the whole. */
public final class RandomFourBitLayers {
    private static final int OPSET = 21;
    private static final float DATA_SCALE = 0.05f;

    private final Random random;
    private final ModelBuilder model = new ModelBuilder(OPSET);
    private final ElementType type;
    private final ElementType weightType;
    private final boolean isOfChannels;
    private float[] scales = {};

    private RandomFourBitLayers(long seed, ElementType signed, ElementType unsigned) {
        this.random = new Random(seed);
        this.type = random.nextBoolean() ? UINT8 : INT8;
        this.weightType = random.nextBoolean() ? signed : unsigned;
        this.isOfChannels = random.nextBoolean();
    }

    /** The model of a number. */
    public static RandomModels.Model draw(long seed) {
        return draw(seed, new RandomFourBitLayers(seed, ElementType.INT4, ElementType.UINT4));
    }

    /** The same with weights of eight bits, whose zero points are anywhere. */
    static RandomModels.Model drawOfBytes(long seed) {
        return draw(seed, new RandomFourBitLayers(seed, INT8, UINT8));
    }

    private static RandomModels.Model draw(long seed, RandomFourBitLayers drawn) {
        String name = List.of("MatMul", "Gemm", "Conv").get((int) (seed % 3));
        if (name.equals("Conv")) {
            drawn.convolution();
        } else {
            drawn.matrix(name);
        }
        return new RandomModels.Model(name + " of " + drawn.weightType.text(), drawn.model.build());
    }

    private List<String> parameters(float scale) {
        int zero = random.nextInt(256) - (type == UINT8 ? 0 : 128);
        return List.of(model.floats(true, scale), model.bytes(type, true, zero));
    }

    private String real(List<Integer> dims) {
        List<String> inputs = new ArrayList<>(List.of(model.input("x", type, dims)));
        inputs.addAll(parameters(DATA_SCALE));
        return model.node("DequantizeLinear", inputs, "real", Map.of());
    }

    private String weights(List<Integer> dims, int axis) {
        int channels = isOfChannels ? dims.get(axis) : 1;
        int count = dims.stream().reduce(1, Math::multiplyExact);
        scales = new float[channels];
        for (int i = 0; i < channels; i++) {
            scales[i] = (0.1f + random.nextFloat()) / (1 << weightType.bits());
        }
        List<String> inputs = new ArrayList<>(
                List.of(model.constant(weightType, dims, weights(count)), model.floats(!isOfChannels, scales)));
        if (random.nextBoolean()) {
            inputs.add(model.constant(weightType, isOfChannels ? List.of(channels) : List.of(), weights(channels)));
        }
        return model.node("DequantizeLinear", inputs, "w", Map.of("axis", (long) axis));
    }

    /** The inputs of a layer, in half of all models with a bias on the scale of the sums. */
    private List<String> inputs(String x, String w, int channels) {
        if (random.nextBoolean()) {
            return List.of(x, w);
        }
        float[] products = scales.clone();
        for (int i = 0; i < products.length; i++) {
            products[i] *= DATA_SCALE;
        }
        String words = model.words(random.ints(channels, -2000, 2000).toArray());
        List<String> bias = List.of(words, model.floats(!isOfChannels, products));
        return List.of(x, w, model.node("DequantizeLinear", bias, "b", Map.of("axis", 0L)));
    }

    private byte[] weights(int count) {
        byte[] bytes = new byte[(count * weightType.bits() + 7) / 8];
        random.nextBytes(bytes);
        return bytes;
    }

    private void quantized(String real, int taps) {
        List<String> inputs = new ArrayList<>(List.of(real));
        inputs.addAll(parameters((float) (0.08 * Math.sqrt(taps) * (0.5 + random.nextDouble()))));
        model.output(model.node("QuantizeLinear", inputs, "y", Map.of()), type);
    }

    private void matrix(String name) {
        int depth = 1 + random.nextInt(90);
        int units = 1 + random.nextInt(21);
        boolean isTransposed = name.equals("Gemm") && random.nextBoolean();
        String x = real(List.of(1 + random.nextInt(3), depth));
        String w = isTransposed ? weights(List.of(units, depth), 0) : weights(List.of(depth, units), 1);
        Map<String, Object> attributes = name.equals("Gemm") ? Map.of("transB", isTransposed ? 1L : 0L) : Map.of();
        List<String> inputs = name.equals("Gemm") ? inputs(x, w, units) : List.of(x, w);
        quantized(model.node(name, inputs, "sum", attributes), depth);
    }

    private void convolution() {
        int channels = 1 + random.nextInt(9);
        int kernel = 1 + random.nextInt(3);
        int size = kernel + random.nextInt(5);
        boolean isDepthwise = random.nextInt(3) == 0;
        int outputs = isDepthwise ? channels : 1 + random.nextInt(9);
        int depth = isDepthwise ? 1 : channels;
        String x = real(List.of(1, channels, size, size));
        String w = weights(List.of(outputs, depth, kernel, kernel), 0);
        Map<String, Object> attributes = ModelBuilder.window(kernel, random.nextInt(kernel), 1 + random.nextInt(2));
        attributes.put("group", (long) (isDepthwise ? channels : 1));
        quantized(model.node("Conv", inputs(x, w, outputs), "sum", attributes), depth * kernel * kernel);
    }
}
