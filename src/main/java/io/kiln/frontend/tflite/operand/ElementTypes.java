// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operand;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.tensor.TensorQuantization;
import io.kiln.frontend.tflite.tensor.TfliteTensor;

/** Checks of an operator's tensors: one element type for all, one scale, known at build time. */
public final class ElementTypes {
    private ElementTypes() {}

    /** Data and output of one type, int8 or float32; int8 with one scale each. */
    public static void requireSame(OperatorContext operator, TfliteTensor... tensors) {
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
    public static void requireScale(OperatorContext operator, TfliteTensor tensor) {
        TensorQuantization quantization = tensor.quantization();
        operator.require(
                quantization.isPerTensor(),
                "`" + tensor.name() + "` has "
                        + (quantization.isPresent() ? quantization.scaleCount() + " scales" : "no scale"),
                "one scale and zero point for the tensor",
                "Quantize the model again");
    }

    public static void requireConstant(OperatorContext operator, String what, TfliteTensor tensor) {
        operator.require(
                tensor.isConstant(),
                what + " `" + tensor.name() + "` is not constant",
                what + " known at build time",
                "Freeze the variables before converting");
    }
}
