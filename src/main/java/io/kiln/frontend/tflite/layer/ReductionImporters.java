// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.layer;

import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.ARG_MAX;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.ARG_MIN;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.MEAN;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.REDUCE_MAX;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.REDUCE_MIN;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.SUM;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.frontend.tflite.operand.ConstantParameters;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operand.QuantizationRules;
import io.kiln.frontend.tflite.operand.Requantizing;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.schema.LayerOptions.Reducer;
import io.kiln.frontend.tflite.tensor.TensorQuantization;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.FloatPrecision;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.TflRealRequantize;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.op.reduce.Reduce.Kind;
import io.kiln.ir.op.reduce.TflSum;
import io.kiln.ir.type.Shape;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** MEAN, SUM, REDUCE_MAX, REDUCE_MIN, ARG_MAX and ARG_MIN. */
public final class ReductionImporters {
    private static final String CONVERT = "Quantize the model to int8 or keep it float32";

    public static final List<Registration> ALL = List.of(
            builtin(MEAN, 3, operator -> reduce(operator, Kind.MEAN)).uint8AsInt8(),
            builtin(ARG_MAX, 3, operator -> index(operator, true)).uint8AsInt8(),
            builtin(SUM, 2, operator -> reduce(operator, Kind.SUM)),
            builtin(ARG_MIN, 3, operator -> index(operator, false)).uint8AsInt8(),
            builtin(REDUCE_MAX, 3, operator -> reduce(operator, Kind.MAX)).uint8AsInt8(),
            builtin(REDUCE_MIN, 3, operator -> reduce(operator, Kind.MIN)).uint8AsInt8());

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
        boolean keepDims = operator.requiredOptions(Reducer.TYPE).get(Reducer.KEEP_DIMS);
        OperandTypes.require(operator, Set.of(DType.FLOAT32, DType.INT8, DType.INT16), data, operator.output());
        operator.check();
        if (!data.dtype().isFloat()) {
            OperandTypes.requireScales(operator, data, operator.output());
            operator.check();
            if (kind == Kind.SUM || kind == Kind.MEAN) {
                operator.finish(sum(operator, kind, axes, keepDims));
                return;
            }
            QuantizationRules.requireEqual(operator, data, operator.output());
            operator.check();
        }
        operator.finish(operator.emit(new Reduce(kind, axes, keepDims), operator.value(data)));
    }

    /** A sum or mean of integers, rescaled from the scale of the data to that of the output. */
    private static Arg sum(OperatorContext operator, Kind kind, List<Integer> axes, boolean keepDims) {
        TfliteTensor data = operator.input(0);
        TensorQuantization from = data.quantization();
        TflSum op = new TflSum(axes, keepDims);
        long terms = op.terms(data.shape());
        long most = Integer.MAX_VALUE / TflSum.largestTerm(data.dtype(), from.zeroPoint());
        operator.require(
                terms <= most,
                "sums of " + terms + " elements may exceed 32 bits",
                "at most " + most + " elements in a sum",
                CONVERT);
        operator.check();
        if (kind == Kind.SUM && operator.followsLite()) {
            return sumInSingle(operator, op, terms);
        }
        Arg sums = operator.emit(op, operator.value(data), Requantizing.zeroPoint(data));
        double ratio = from.scale(0) / (double) operator.output().quantization().scale(0);
        QuantizedMultiplier by = Requantizing.multiplier(operator, ratio);
        return Requantizing.rescale(operator, sums, kind == Kind.SUM ? by : by.dividedBy((int) terms));
    }

    /** A sum as TensorFlow Lite's kernel rescales it, in single precision (optimized_ops.h: QuantizedMeanOrSum). */
    private static Arg sumInSingle(OperatorContext operator, TflSum op, long terms) {
        TfliteTensor data = operator.input(0);
        TfliteTensor output = operator.output();
        float scale = data.quantization().scale(0) / output.quantization().scale(0);
        float bias = -data.quantization().zeroPoint() * scale * terms;
        Arg sums = operator.emit(op, operator.value(data), Constant.scalar(0));
        if (output.dtype() == DType.INT8) {
            return operator.emit(
                    new TflRealRequantize(DType.INT8, FloatPrecision.SINGLE),
                    sums,
                    Requantizing.scale(data),
                    Constant.scalar(1f),
                    Requantizing.scale(output),
                    Constant.scalar(bias),
                    Requantizing.zeroPoint(output));
        }
        Arg real = operator.emit(new Cast(DType.FLOAT32), sums);
        Arg scaled = operator.emit(new Binary(Binary.Kind.MULTIPLY), real, Constant.scalar(scale));
        Arg shifted = operator.emit(new Binary(Binary.Kind.ADD), scaled, Constant.scalar(bias));
        Arg rounded = operator.emit(new Unary(Unary.Kind.ROUND_AWAY), shifted);
        Arg centred = operator.emit(new Binary(Binary.Kind.ADD), rounded, Constant.scalar((float)
                output.quantization().zeroPoint()));
        Arg limited = operator.emit(new Clip(Short.MIN_VALUE, Short.MAX_VALUE), centred);
        return operator.emit(new Cast(DType.INT16), limited);
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
