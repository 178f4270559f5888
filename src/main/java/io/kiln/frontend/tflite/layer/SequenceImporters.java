// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.layer;

import static io.kiln.frontend.tflite.operator.Registration.builtin;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.operand.Requantizing;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.OperatorOptions.BatchMatMul;
import io.kiln.frontend.tflite.schema.OperatorOptions.Cumsum;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.movement.Updates.TflDynamicUpdateSlice;
import io.kiln.ir.op.reduce.TflCumsum;
import java.util.List;
import java.util.Set;

/** Operators of attention, and sums over sequences: BATCH_MATMUL, CUMSUM, DYNAMIC_UPDATE_SLICE. */
public final class SequenceImporters {

    /** Largest product of two int8 less their zero points. */
    private static final long LARGEST_PRODUCT = 255L * 255;

    public static final List<Registration> ALL = List.of(
            builtin(BuiltinOperator.BATCH_MATMUL, 4, SequenceImporters::multiply),
            builtin(BuiltinOperator.CUMSUM, 1, SequenceImporters::cumsum),
            builtin(BuiltinOperator.DYNAMIC_UPDATE_SLICE, 2, SequenceImporters::update));

    private SequenceImporters() {}

    private static void multiply(OperatorContext operator) {
        TfliteTensor a = operator.input(0);
        TfliteTensor b = operator.input(1);
        TfliteTensor output = operator.output();
        FlatTable options = operator.requiredOptions(BatchMatMul.TYPE);
        TflBatchMatmul op = new TflBatchMatmul(options.get(BatchMatMul.ADJ_X), options.get(BatchMatMul.ADJ_Y));
        boolean supported = a.dtype().isFloat() || a.dtype() == DType.INT8 || a.dtype() == DType.INT16;
        operator.requireThat(
                supported && b.dtype() == a.dtype() && output.dtype() == a.dtype(),
                "from " + a.text() + " and " + b.text() + " to "
                        + output.dtype().text() + " is not supported here",
                "float32, int8 or int16, the same for both matrices and the output",
                "Quantize the whole model to int8 or int16, or keep all of it float32");
        if (!a.dtype().isFloat()) {
            requireQuantization(operator, op, a, b, output);
        }
        Arg sums = operator.emit(
                op, operator.value(a), operator.value(b), Requantizing.zeroPoint(a), Requantizing.zeroPoint(b));
        operator.finish(a.dtype().isFloat() ? sums : rescale(operator, sums, a, b));
    }

    private static void requireQuantization(
            OperatorContext operator, TflBatchMatmul op, TfliteTensor a, TfliteTensor b, TfliteTensor output) {
        for (TfliteTensor tensor : new TfliteTensor[] {a, b, output}) {
            operator.requireScales(tensor);
            operator.require(
                    a.dtype() == DType.INT8 || tensor.quantization().isSymmetric(),
                    "`" + tensor.name() + "` of int16 has a zero point",
                    "zero point 0",
                    "Quantize the model again");
        }
        operator.requireThat(
                a.dtype() != DType.INT8
                        || a.shape().rank() < 2
                        || op.depth(a.shape()) <= Integer.MAX_VALUE / LARGEST_PRODUCT,
                "sums of the products of rows of " + a.text() + " may exceed 32 bits",
                "at most " + Integer.MAX_VALUE / LARGEST_PRODUCT + " products in a sum",
                "Split the matrices");
    }

    /** The product of the input scales is rounded to single precision (GetQuantizedConvolutionMultipler in kernel_util.cc). */
    private static Arg rescale(OperatorContext operator, Arg sums, TfliteTensor a, TfliteTensor b) {
        float product = a.quantization().scale(0) * b.quantization().scale(0);
        double output = operator.output().quantization().scale(0);
        return Requantizing.rescale(operator, sums, -1, 0, 1, unit -> product / output);
    }

    private static void cumsum(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        FlatTable options = operator.requiredOptions(Cumsum.TYPE);
        operator.requireTypes(Set.of(DType.FLOAT32, DType.INT8, DType.INT32, DType.INT64), data, operator.output());
        int axis = operator.axis(operator.input(1), data.shape().rank());
        TflCumsum op = new TflCumsum(axis, options.get(Cumsum.EXCLUSIVE), options.get(Cumsum.REVERSE));
        if (data.dtype() != DType.INT8) {
            operator.finish(op, operator.value(data), Constant.scalar(0));
            return;
        }
        operator.checkScales(data, operator.output());
        // The kernel multiplies by one half before it sums and by two here, which is exact (CalculateOpData in
        // cumsum.cc).
        double ratio = 2
                * (double) data.quantization().scale(0)
                / ((1 << (TflCumsum.FRACTION_BITS + 1))
                        * (double) operator.output().quantization().scale(0));
        operator.requireThat(
                ratio < 1,
                "the input's scale is " + (ratio * (1 << TflCumsum.FRACTION_BITS)) + " times the output's",
                "less than 2^" + TflCumsum.FRACTION_BITS + " times",
                "Quantize the model again");
        Arg sums = operator.emit(op, operator.value(data), Requantizing.zeroPoint(data));
        operator.finish(Requantizing.rescale(operator, sums, Requantizing.multiplier(operator, ratio)));
    }

    private static void update(OperatorContext operator) {
        operator.finish(
                new TflDynamicUpdateSlice(),
                operator.value(0),
                operator.value(1),
                operator.value(operator.input(TflDynamicUpdateSlice.START)));
    }
}
