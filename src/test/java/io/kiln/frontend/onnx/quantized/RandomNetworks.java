// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static io.kiln.frontend.onnx.model.ElementType.INT8;

import io.kiln.base.Bytes;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.model.ElementType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Draws quantized networks for images: convolutions, pools, residual sums, and a layer of all at the end. */
final class RandomNetworks {
    private static final String MICROSOFT = "com.microsoft";
    private static final int SIZE = 8;

    private final Random random;
    private final ModelBuilder model = new ModelBuilder(13);
    private final ElementType type;
    private int names;
    private String value;
    private String parameters;
    private float scale;
    private String zeroPoint;
    private int channels = 3;
    private int size = SIZE;

    private RandomNetworks(long seed) {
        this.random = new Random(seed);
        this.type = random.nextBoolean() ? ElementType.UINT8 : INT8;
        this.value = model.input("x", type, List.of(1, channels, SIZE, SIZE));
        rescaled(0.02f);
    }

    /** The network of a number. */
    static Bytes draw(long seed) {
        RandomNetworks network = new RandomNetworks(seed);
        int layers = 2 + network.random.nextInt(4);
        for (int i = 0; i < layers; i++) {
            network.layer();
        }
        return network.finished();
    }

    private void layer() {
        switch (random.nextInt(5)) {
            case 0 -> convolution(channels, true);
            case 1 -> pool();
            case 2 -> residual();
            default -> convolution(2 + random.nextInt(10), false);
        }
    }

    private String next() {
        return "v" + names++;
    }

    private void rescaled(float newScale) {
        scale = newScale;
        parameters = model.floats(true, scale);
        zeroPoint =
                model.bytes(type, true, type == ElementType.UINT8 ? random.nextInt(256) : random.nextInt(256) - 128);
    }

    private void convolution(int outputs, boolean isDepthwise) {
        int kernel = random.nextBoolean() ? 1 : 3;
        int taps = (isDepthwise ? 1 : channels) * kernel * kernel;
        byte[] weights = new byte[outputs * taps];
        random.nextBytes(weights);
        float[] scales = new float[outputs];
        for (int i = 0; i < outputs; i++) {
            scales[i] = (float) (0.002 + 0.01 * random.nextDouble());
        }
        String weight = model.constant(INT8, List.of(outputs, isDepthwise ? 1 : channels, kernel, kernel), weights);
        List<String> inputs = new ArrayList<>(List.of(value, parameters, zeroPoint));
        inputs.addAll(List.of(weight, model.floats(false, scales), model.bytes(INT8, false, new int[outputs])));
        rescaled((float) (scale * 0.4 * Math.sqrt(taps)));
        inputs.addAll(List.of(
                parameters,
                zeroPoint,
                model.words(random.ints(outputs, -2000, 2000).toArray())));
        long pad = kernel / 2;
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put("kernel_shape", List.of((long) kernel, (long) kernel));
        attributes.put("pads", List.of(pad, pad, pad, pad));
        attributes.put("group", (long) (isDepthwise ? channels : 1));
        value = model.node("QLinearConv", inputs, next(), attributes);
        channels = outputs;
    }

    private void pool() {
        if (size < 4) {
            return;
        }
        String real = real();
        String pooled = model.node(
                "MaxPool", List.of(real), next(), Map.of("kernel_shape", List.of(2L, 2L), "strides", List.of(2L, 2L)));
        value = model.node("QuantizeLinear", List.of(pooled, parameters, zeroPoint), next(), Map.of());
        size /= 2;
    }

    private String real() {
        return model.node("DequantizeLinear", List.of(value, parameters, zeroPoint), next(), Map.of());
    }

    private void residual() {
        List<String> before = List.of(value, parameters, zeroPoint);
        float first = scale;
        convolution(channels, false);
        List<String> inputs = new ArrayList<>(List.of(value, parameters, zeroPoint));
        inputs.addAll(before);
        rescaled(scale + first);
        inputs.addAll(List.of(parameters, zeroPoint));
        value = model.node(MICROSOFT, "QLinearAdd", inputs, next(), Map.of());
    }

    private Bytes finished() {
        List<String> inputs = new ArrayList<>(List.of(value, parameters, zeroPoint));
        rescaled(scale * 0.5f);
        inputs.addAll(List.of(parameters, zeroPoint));
        value = model.node(MICROSOFT, "QLinearGlobalAveragePool", inputs, next(), Map.of("channels_last", 0L));
        String limited = model.node("Relu", List.of(real()), next(), Map.of());
        rescaled(scale * 0.7f);
        model.output(
                model.node("QuantizeLinear", List.of(limited, parameters, zeroPoint), "result", Map.of()),
                type,
                List.of(1, channels, 1, 1));
        return model.build();
    }
}
