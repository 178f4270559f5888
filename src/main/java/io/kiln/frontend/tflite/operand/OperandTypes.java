// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operand;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.tensor.TensorQuantization;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Constant;
import io.kiln.ir.Quantization;
import io.kiln.ir.op.element.QnnBinary;
import java.util.Set;
import java.util.stream.Collectors;

/** Checks of an operator's tensors: element types, scales, and that they are constant; and their quantization as arguments. */
public final class OperandTypes {
    /** TFLite treats scales as equal up to this difference. */
    private static final float TOLERANCE = 1e-6f;

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
            requireScale(operator, tensor);
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

    /** The output's quantization must equal the input's. */
    public static void requireEqual(OperatorContext operator, TfliteTensor input, TfliteTensor output) {
        TensorQuantization from = input.quantization();
        TensorQuantization to = output.quantization();
        operator.require(
                Math.abs(from.scale(0) - to.scale(0)) <= TOLERANCE && from.zeroPoint() == to.zeroPoint(),
                "output `" + output.name() + "` has scale " + to.scale(0) + " and zero point " + to.zeroPoint(),
                "the input's scale " + from.scale(0) + " and zero point " + from.zeroPoint(),
                "Quantize the model again");
    }

    /** The output must have a given quantization, its scale within a thousandth. */
    public static void requireFixed(OperatorContext operator, TfliteTensor output, float scale, int zeroPoint) {
        TensorQuantization to = output.quantization();
        operator.require(
                Math.abs(to.scale(0) - scale) <= 0.001f * scale && to.zeroPoint() == zeroPoint,
                "output `" + output.name() + "` has scale " + to.scale(0) + " and zero point " + to.zeroPoint(),
                "scale " + scale + " and zero point " + zeroPoint,
                "Quantize the model again");
    }
}
