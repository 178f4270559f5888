// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.layer;

import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.MEAN;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.REDUCE_ALL;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.REDUCE_ANY;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.REDUCE_MAX;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.REDUCE_MIN;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.REDUCE_PROD;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.SUM;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.frontend.Formulas;
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
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.op.reduce.Reduce.Kind;
import io.kiln.ir.op.reduce.TflProduct;
import io.kiln.ir.op.reduce.TflSum;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** MEAN, SUM, and the REDUCE_ operators. */
public final class ReductionImporters {
    private static final String CONVERT = "Quantize the model to int8 or keep it float32";

    public static final List<Registration> ALL = List.of(
            builtin(MEAN, 3, operator -> reduce(operator, Kind.MEAN)).uint8AsInt8(),
            builtin(SUM, 2, operator -> reduce(operator, Kind.SUM)),
            builtin(REDUCE_PROD, 3, ReductionImporters::product).uint8AsInt8(),
            builtin(REDUCE_ANY, 1, operator -> truth(operator, Kind.MAX)),
            builtin(REDUCE_ALL, 1, operator -> truth(operator, Kind.MIN)),
            builtin(REDUCE_MAX, 3, operator -> reduce(operator, Kind.MAX)).uint8AsInt8(),
            builtin(REDUCE_MIN, 3, operator -> reduce(operator, Kind.MIN)).uint8AsInt8());

    private ReductionImporters() {}

    private static List<Integer> axes(OperatorContext operator) {
        int rank = operator.input(0).shape().rank();
        return Arrays.stream(ConstantParameters.ints(operator, "the axes", operator.input(1)))
                .map(axis -> ConstantParameters.axis(operator, axis, rank))
                .sorted()
                .distinct()
                .boxed()
                .toList();
    }

    private static void reduce(OperatorContext operator, Kind kind) {
        TfliteTensor data = operator.input(0);
        List<Integer> axes = axes(operator);
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

    /** REDUCE_PROD; each step of quantized integers is rescaled (reduce.cc: GetQuantProdScaling). */
    private static void product(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        List<Integer> axes = axes(operator);
        boolean keepDims = operator.requiredOptions(Reducer.TYPE).get(Reducer.KEEP_DIMS);
        OperandTypes.require(
                operator,
                Set.of(DType.FLOAT32, DType.INT8, DType.INT16, DType.INT32, DType.INT64),
                data,
                operator.output());
        operator.check();
        if (!OperandTypes.isQuantized(data.dtype())) {
            operator.finish(operator.emit(new Reduce(Kind.PROD, axes, keepDims), operator.value(data)));
            return;
        }
        TfliteTensor output = operator.output();
        OperandTypes.requireScales(operator, data, output);
        operator.check();
        long factors = axes.stream().mapToLong(data.shape()::dim).reduce(1, (a, b) -> a * b);
        double root = Math.pow(output.quantization().scale(0), 1.0 / Math.max(1, factors));
        double scaling = data.quantization().scale(0) / root;
        QuantizedMultiplier step = Requantizing.multiplier(operator, scaling);
        operator.require(
                step.shift() <= TflProduct.MOST_SHIFT,
                "its scales multiply to " + scaling,
                "less than 2^" + TflProduct.MOST_SHIFT,
                CONVERT);
        operator.check();
        TflProduct op = new TflProduct(
                axes,
                keepDims,
                step,
                data.quantization().zeroPoint(),
                output.quantization().zeroPoint());
        operator.finish(operator.emit(op, operator.value(data)));
    }

    /** REDUCE_ANY and REDUCE_ALL: the largest and the smallest truth value. */
    private static void truth(OperatorContext operator, Kind kind) {
        TfliteTensor data = operator.input(0);
        List<Integer> axes = axes(operator);
        boolean keepDims = operator.requiredOptions(Reducer.TYPE).get(Reducer.KEEP_DIMS);
        OperandTypes.require(operator, Set.of(DType.BOOL), data, operator.output());
        operator.check();
        Formulas f = new Formulas(operator);
        Arg bytes = f.cast(operator.value(data), DType.INT8);
        operator.finish(f.cast(operator.emit(new Reduce(kind, axes, keepDims), bytes), DType.BOOL));
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
}
