// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static io.kiln.frontend.onnx.model.ElementType.INT8;

import java.util.Collections;
import java.util.List;
import java.util.Map;

/** Draws quantized networks for images: convolutions, pools, residual sums, and a layer of all at the end. */
final class RandomNetworks extends QuantizedDraw {
    private static final int SIZE = 8;

    private int names;
    private String value;
    private float scale;

    /** The names of scale and zero point. */
    private List<String> parameters = List.of();

    private int channels = 3;
    private int size = SIZE;

    private RandomNetworks(long seed) {
        super(seed, 1, 13);
        this.value = model.input("x", type, List.of(1, channels, SIZE, SIZE));
        rescaled(0.02f);
    }

    /** The network of a number. */
    static Model draw(long seed) {
        RandomNetworks network = new RandomNetworks(seed);
        int layers = 2 + network.below(4);
        for (int i = 0; i < layers; i++) {
            network.layer();
        }
        network.finish();
        return network.named("network");
    }

    private void layer() {
        switch (below(5)) {
            case 0 -> convolution(channels, true);
            case 1 -> pool();
            case 2 -> residual();
            default -> convolution(1 + upTo(10), false);
        }
    }

    private void rescaled(float newScale) {
        scale = newScale;
        parameters = parameters(scale, zero());
    }

    /** The next value is what an operator computes. */
    private void next(String domain, String operator, List<String> inputs, Map<String, Object> attributes) {
        value = model.node(domain, operator, inputs, "v" + names++, attributes);
    }

    private void convolution(int outputs, boolean isDepthwise) {
        int kernel = coin() ? 1 : 3;
        int depth = isDepthwise ? 1 : channels;
        int taps = depth * kernel * kernel;
        String weight = constant(INT8, List.of(outputs, depth, kernel, kernel));
        List<String> inputs = with(value, parameters);
        String scales = constant(List.of(outputs), () -> 0.002 + 0.01 * random.nextDouble());
        inputs.addAll(List.of(weight, scales, model.bytes(INT8, false, new int[outputs])));
        rescaled((float) (scale * 0.4 * Math.sqrt(taps)));
        inputs.addAll(parameters);
        inputs.add(model.words(random.ints(outputs, -2000, 2000).toArray()));
        Map<String, Object> attributes = Map.of(
                "kernel_shape", pair(kernel, kernel),
                "pads", Collections.nCopies(4, (long) kernel / 2),
                "group", (long) (isDepthwise ? channels : 1));
        next("", "QLinearConv", inputs, attributes);
        channels = outputs;
    }

    private void pool() {
        if (size >= 4) {
            dequantize();
            next("", "MaxPool", List.of(value), Map.of("kernel_shape", pair(2, 2), "strides", pair(2, 2)));
            next("", "QuantizeLinear", with(value, parameters), Map.of());
            size /= 2;
        }
    }

    private void dequantize() {
        next("", "DequantizeLinear", with(value, parameters), Map.of());
    }

    private void residual() {
        List<String> before = with(value, parameters);
        float first = scale;
        convolution(channels, false);
        List<String> inputs = with(value, parameters);
        inputs.addAll(before);
        rescaled(scale + first);
        inputs.addAll(parameters);
        next(MICROSOFT, "QLinearAdd", inputs, Map.of());
    }

    private void finish() {
        List<String> inputs = with(value, parameters);
        rescaled(scale * 0.5f);
        inputs.addAll(parameters);
        next(MICROSOFT, "QLinearGlobalAveragePool", inputs, Map.of("channels_last", 0L));
        dequantize();
        next("", "Relu", List.of(value), Map.of());
        rescaled(scale * 0.7f);
        next("", "QuantizeLinear", with(value, parameters), Map.of());
        model.output(value, type, List.of(1, channels, 1, 1));
    }
}
