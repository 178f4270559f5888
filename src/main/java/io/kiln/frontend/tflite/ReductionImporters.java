// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.SupportedOperators.Support;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.MeanRescale;
import io.kiln.ir.op.ArgReduce;
import io.kiln.ir.op.Reduce;
import io.kiln.ir.op.Reduce.Kind;
import io.kiln.ir.op.Reshape;
import io.kiln.ir.op.TflMean;
import io.kiln.ir.type.Shape;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** MEAN, SUM, REDUCE_MAX, REDUCE_MIN, ARG_MAX and ARG_MIN. */
final class ReductionImporters {
    private static final int REDUCER_OPTIONS = 27;
    private static final String CONVERT = "Quantize the model to int8 or keep it float32";

    static final Map<Integer, Support> ALL = Map.ofEntries(
            Map.entry(40, new Support(operator -> reduce(operator, Kind.MEAN), 3)),
            Map.entry(56, new Support(operator -> index(operator, true), 3)),
            Map.entry(74, new Support(operator -> reduce(operator, Kind.SUM), 2)),
            Map.entry(79, new Support(operator -> index(operator, false), 3)),
            Map.entry(82, new Support(operator -> reduce(operator, Kind.MAX), 3)),
            Map.entry(89, new Support(operator -> reduce(operator, Kind.MIN), 3)));

    private ReductionImporters() {}

    private static void reduce(OperatorContext operator, Kind kind) {
        TfliteTensor data = operator.input(0);
        int rank = data.shape().rank();
        List<Integer> axes = Arrays.stream(ConstantParameters.ints(operator, "the axes", operator.input(1)))
                .map(axis -> ConstantParameters.axis(operator, axis, rank))
                .sorted()
                .distinct()
                .boxed()
                .toList();
        boolean keepDims = operator.requiredOptions(REDUCER_OPTIONS).u8(0, 0) != 0;
        boolean isExtreme = kind == Kind.MAX || kind == Kind.MIN;
        boolean supported = data.dtype().isFloat()
                || (data.dtype() == DType.INT8 && kind != Kind.SUM)
                || (data.dtype() == DType.INT16 && isExtreme);
        operator.require(supported, data.text() + " is not supported here", "float32, or int8 but for sums", CONVERT);
        operator.check();
        if (data.dtype() == DType.INT8 && kind == Kind.MEAN) {
            operator.finish(mean(operator, data, axes, keepDims));
            return;
        }
        if (!data.dtype().isFloat()) {
            ElementTypes.requireScale(operator, data);
            ElementTypes.requireScale(operator, operator.output());
            operator.check();
            QuantizationRules.requireEqual(operator, data, operator.output());
            operator.check();
        }
        operator.finish(operator.emit(new Reduce(kind, axes, keepDims), operator.value(data)));
    }

    private static Arg mean(OperatorContext operator, TfliteTensor data, List<Integer> axes, boolean keepDims) {
        ElementTypes.requireScale(operator, data);
        ElementTypes.requireScale(operator, operator.output());
        operator.check();
        TensorQuantization from = data.quantization();
        TensorQuantization to = operator.output().quantization();
        long count = axes.stream().mapToLong(data.shape()::dim).reduce(1, (a, b) -> a * b);
        operator.require(count <= 1 << 22, "a mean of " + count + " elements", "at most " + (1 << 22), CONVERT);
        operator.check();
        boolean found = MeanRescale.of((int) count, from.scale(0), from.zeroPoint(), to.scale(0), to.zeroPoint())
                .isPresent();
        operator.require(
                found,
                "no integers compute what the reference kernel's floats do for scales " + from.scale(0) + " and "
                        + to.scale(0),
                "other scales, such as equal ones",
                "Quantize the model again");
        operator.check();
        return operator.emit(
                new TflMean(axes, keepDims),
                operator.value(data),
                Constant.scalar(from.scale(0)),
                Constant.scalar(from.zeroPoint()),
                Constant.scalar(to.scale(0)),
                Constant.scalar(to.zeroPoint()));
    }

    private static void index(OperatorContext operator, boolean largest) {
        TfliteTensor data = operator.input(0);
        operator.require(
                data.dtype().isFloat() || data.dtype() == DType.INT8,
                data.text() + " is not supported here",
                "float32 or int8",
                CONVERT);
        operator.require(
                operator.output().dtype() == DType.INT32,
                "the output is " + operator.output().dtype().text(),
                "int32",
                "Ask for output_type int32");
        operator.check();
        int axis = ConstantParameters.axis(
                operator, operator.input(1), data.shape().rank());
        Arg result = operator.emit(new ArgReduce(largest, axis), operator.value(data));
        Shape stated = operator.outputShape(() -> operator.type(result).shape());
        boolean scalar =
                stated.elements() == 1 && !stated.equals(operator.type(result).shape());
        operator.finish(scalar ? operator.emit(new Reshape(stated), result) : result);
    }
}
