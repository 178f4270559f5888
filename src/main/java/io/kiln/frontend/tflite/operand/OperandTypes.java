// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operand;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Constant;
import io.kiln.ir.Quantization;
import io.kiln.ir.op.element.QnnBinary;
import java.util.Set;
import java.util.stream.Collectors;

/** Checks of the operands of element-wise operators, and their quantization as arguments. */
public final class OperandTypes {
    private OperandTypes() {}

    /** All tensors have the same type, one that the operator's reference kernel supports. */
    public static boolean require(OperatorContext operator, Set<DType> supported, TfliteTensor... tensors) {
        boolean holds = true;
        for (TfliteTensor tensor : tensors) {
            holds &= operator.require(
                    supported.contains(tensor.dtype()) && tensor.dtype() == tensors[0].dtype(),
                    "element type " + tensor.dtype().text() + " of `" + tensor.name() + "` is not supported here",
                    text(supported) + (tensors.length > 1 ? ", the same for all tensors" : ""),
                    "Convert the model with one of these types");
        }
        return holds;
    }

    public static String text(Set<DType> dtypes) {
        return dtypes.stream().sorted().map(DType::text).collect(Collectors.joining(", "));
    }

    /** Whether integers of the type are quantized: those of 8 and 16 bits. */
    public static boolean isQuantized(DType dtype) {
        return dtype.isInteger() && dtype.bytes() < Integer.BYTES;
    }

    /** Each tensor has one scale and zero point. */
    public static void requireScales(OperatorContext operator, TfliteTensor... tensors) {
        for (TfliteTensor tensor : tensors) {
            ElementTypes.requireScale(operator, tensor);
        }
    }

    /** The zero points of int16 are 0, as the reference kernel requires. */
    public static void requireSymmetric(OperatorContext operator, TfliteTensor... tensors) {
        for (TfliteTensor tensor : tensors) {
            if (tensor.dtype() == DType.INT16 && tensor.quantization().isPerTensor()) {
                operator.require(
                        tensor.quantization().zeroPoint() == 0,
                        "`" + tensor.name() + "` is int16 with zero point "
                                + tensor.quantization().zeroPoint(),
                        "zero point 0",
                        "Quantize the model again");
            }
        }
    }

    public static Constant scale(TfliteTensor tensor) {
        return Constant.scalar(tensor.quantization().scale(0));
    }

    public static Constant zeroPoint(TfliteTensor tensor) {
        return Constant.scalar(tensor.quantization().zeroPoint());
    }

    /** A function of two quantized elements in the arithmetic of the chosen library. */
    public static QnnBinary binary(OperatorContext operator, QnnBinary.Kind kind) {
        return operator.followsLite() ? QnnBinary.ofLite(kind) : new QnnBinary(kind);
    }

    /** The quantization of a tensor that has one scale. */
    public static Quantization quantization(TfliteTensor tensor) {
        return tensor.quantization().affine().orElseThrow();
    }
}
