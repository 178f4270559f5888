// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static io.kiln.frontend.onnx.model.ElementType.INT8;
import static io.kiln.frontend.onnx.model.ElementType.UINT8;

import io.kiln.frontend.onnx.OnnxDraw;
import io.kiln.frontend.onnx.model.ElementType;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleSupplier;

/** The same for a model whose input and output are quantized to int8 or to uint8. */
class QuantizedDraw extends OnnxDraw {
    static final String MICROSOFT = "com.microsoft";

    /** Scales of usual data. */
    static final double LEAST = 0.0067;

    static final double MOST = 0.135;

    final ElementType type;

    /** Version of ONNX's operators. */
    final int version;

    /**
     * Quantization of a tensor.
     *
     * @param zero zero point if the tensor is int8; 128 less than if it is uint8
     */
    record Scale(float scale, int zero) {}

    /**
     * Types take turns when operators have.
     *
     * @param versions the model is of one of these
     */
    QuantizedDraw(long seed, int operators, int... versions) {
        super(seed, operators, versions[0]);
        type = coin() == (turn % 2 == 0) ? UINT8 : INT8;
        version = versions.length == 1 ? versions[0] : versions[below(versions.length)];
        model.version(version);
    }

    /** A scale between two, or the power of two below it. */
    final float scale(double low, double high, boolean isPowerOfTwo) {
        double scale = low * Math.pow(high / low, random.nextDouble());
        return (float) (isPowerOfTwo ? Math.scalb(1.0, Math.getExponent(scale)) : scale);
    }

    /** Any zero point of int8. */
    final int zero() {
        return between(-128, 127);
    }

    final List<String> parameters(float scale, int zero) {
        return List.of(model.floats(true, scale), model.bytes(type, true, type == UINT8 ? zero + 128 : zero));
    }

    final List<String> parameters(Scale scale) {
        return parameters(scale.scale, scale.zero);
    }

    /** An input, and its quantization. */
    final List<String> input(String name, List<Integer> dims, Scale scale) {
        return with(model.input(name, type, dims), parameters(scale));
    }

    /** An input, dequantized. */
    final String real(String input, List<Integer> dims, Scale scale) {
        return model.node(domain(), "DequantizeLinear", input(input, dims, scale), input + "_real", Map.of());
    }

    /** Of the operators that quantize data and dequantize it. */
    String domain() {
        return "";
    }

    /** Ends the model with what is computed, quantized. */
    final void quantized(String real, Scale scale) {
        List<String> inputs = with(real, parameters(scale));
        model.output(model.node(domain(), "QuantizeLinear", inputs, "result", Map.of()), type);
    }

    /** Ends the model with bytes that an operator computes. */
    final void endWithBytes(String domain, String operator, List<String> inputs, Map<String, Object> attributes) {
        model.output(model.node(domain, operator, inputs, "result", attributes), type);
    }

    /** Weights of int8 without zero points, with one scale or several. */
    final List<String> weights(String bytes, float... scales) {
        boolean isOne = scales.length == 1;
        return List.of(bytes, model.floats(isOne, scales), model.bytes(INT8, isOne, new int[scales.length]));
    }

    static float[] reals(int count, DoubleSupplier each) {
        float[] reals = new float[count];
        for (int i = 0; i < count; i++) {
            reals[i] = (float) each.getAsDouble();
        }
        return reals;
    }

    /** Scales of a layer's sums. */
    static float[] products(float factor, float... scales) {
        float[] products = scales.clone();
        for (int i = 0; i < products.length; i++) {
            products[i] *= factor;
        }
        return products;
    }
}
