// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.DType;
import java.util.Optional;

/** Checks that the tensors of an operator are all float32 or all quantized to int8. */
final class ElementTypes {
    private static final String SUPPORTED = "int8 data and weights with int32 bias, or all float32";

    private ElementTypes() {}

    /** Data and output of one type, int8 or float32; int8 with one scale each. */
    static void requireSame(OperatorContext operator, TfliteTensor... tensors) {
        DType dtype = tensors[0].dtype();
        boolean supported = dtype == DType.INT8 || dtype == DType.FLOAT32;
        for (TfliteTensor tensor : tensors) {
            operator.require(
                    supported && tensor.dtype() == dtype,
                    "element type " + tensor.dtype().text() + " of `" + tensor.name() + "` is not supported here",
                    "int8 or float32, the same for all tensors",
                    "Quantize the whole model to int8, inputs and outputs included, or keep all of it float32");
            if (tensor.dtype() == DType.INT8) {
                requireScale(operator, tensor);
            }
        }
    }

    /** One scale for the whole tensor. */
    static void requireScale(OperatorContext operator, TfliteTensor tensor) {
        TensorQuantization quantization = tensor.quantization();
        operator.require(
                quantization.isPerTensor(),
                "`" + tensor.name() + "` has "
                        + (quantization.isPresent() ? quantization.scaleCount() + " scales" : "no scale"),
                "one scale and zero point for the tensor",
                "Quantize the model again");
    }

    /** Weights of the data's kind, known at build time. */
    static void requireWeights(OperatorContext operator, TfliteTensor data, TfliteTensor weights) {
        if (data.dtype() == DType.FLOAT32 && weights.dtype() == DType.INT8) {
            operator.require(
                    false,
                    "hybrid operators (float32 data, int8 weights `" + weights.name() + "`) are not supported",
                    SUPPORTED,
                    "Quantize activations too, with a representative dataset, or convert without quantization");
        } else {
            operator.require(
                    weights.dtype() == data.dtype(),
                    "weights `" + weights.name() + "` are " + weights.dtype().text(),
                    SUPPORTED,
                    "Convert the model again");
        }
        requireConstant(operator, "weights", weights);
        operator.require(
                weights.dtype() != DType.INT8 || weights.quantization().isPresent(),
                "weights `" + weights.name() + "` have no scale",
                "one scale, or one per output channel",
                "Quantize the model again");
    }

    /** A vector of the accumulator's type with an element per output channel. */
    static void requireBias(OperatorContext operator, TfliteTensor data, Optional<TfliteTensor> bias, int channels) {
        if (bias.isEmpty()) {
            return;
        }
        TfliteTensor tensor = bias.get();
        DType expected = data.dtype() == DType.INT8 ? DType.INT32 : DType.FLOAT32;
        operator.require(
                tensor.dtype() == expected,
                "bias `" + tensor.name() + "` is " + tensor.dtype().text(),
                SUPPORTED,
                "Convert the model again");
        operator.require(
                tensor.shape().elements() == channels,
                "bias `" + tensor.name() + "` has " + tensor.shape().elements() + " elements",
                channels + ", one per output channel",
                "Export the model again");
        requireConstant(operator, "bias", tensor);
    }

    static void requireConstant(OperatorContext operator, String what, TfliteTensor tensor) {
        operator.require(
                tensor.isConstant(),
                what + " `" + tensor.name() + "` is not constant",
                what + " known at build time",
                "Freeze the variables before converting");
    }
}
