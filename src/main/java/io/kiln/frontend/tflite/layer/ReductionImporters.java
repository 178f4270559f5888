// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.layer;

import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.operator.Registration.builtinOfBytes;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.tflite.operand.Requantizing;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.OperatorOptions.Reducer;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.frontend.tflite.tensor.TfliteTensor.TensorQuantization;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.FloatPrecision;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.TflRealRequantize;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.op.reduce.QuantizedReductions.TflProduct;
import io.kiln.ir.op.reduce.QuantizedReductions.TflSum;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.op.reduce.Reduce.Kind;
import io.kiln.ir.op.reduce.Topk;
import io.kiln.ir.type.Shape;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** MEAN, SUM, the REDUCE_ operators, and those that order elements: ARG_MAX, ARG_MIN and TOPK_V2. */
public final class ReductionImporters {
    private static final Set<DType> INDEX = Set.of(DType.INT32, DType.INT64);
    private static final String CONVERT = "Quantize the model to int8 or keep it float32";

    public static final List<Registration> ALL = List.of(
            builtinOfBytes(BuiltinOperator.MEAN, 3, operator -> reduce(operator, Kind.MEAN)),
            builtin(BuiltinOperator.SUM, 2, operator -> reduce(operator, Kind.SUM)),
            builtinOfBytes(BuiltinOperator.REDUCE_PROD, 3, ReductionImporters::product),
            builtin(BuiltinOperator.REDUCE_ANY, 1, operator -> truth(operator, Kind.MAX)),
            builtin(BuiltinOperator.REDUCE_ALL, 1, operator -> truth(operator, Kind.MIN)),
            builtinOfBytes(BuiltinOperator.REDUCE_MAX, 3, operator -> reduce(operator, Kind.MAX)),
            builtinOfBytes(BuiltinOperator.REDUCE_MIN, 3, operator -> reduce(operator, Kind.MIN)),
            builtinOfBytes(BuiltinOperator.ARG_MAX, 3, operator -> index(operator, true)),
            builtinOfBytes(BuiltinOperator.ARG_MIN, 3, operator -> index(operator, false)),
            builtinOfBytes(BuiltinOperator.TOPK_V2, 3, ReductionImporters::largest));

    private ReductionImporters() {}

    private static List<Integer> axes(OperatorContext operator) {
        int rank = operator.input(0).shape().rank();
        return Arrays.stream(operator.integers("the axes", operator.input(1)))
                .map(axis -> operator.axis(axis, rank))
                .sorted()
                .distinct()
                .boxed()
                .toList();
    }

    private static void reduce(OperatorContext operator, Kind kind) {
        TfliteTensor data = operator.input(0);
        List<Integer> axes = axes(operator);
        boolean keepDims = operator.requiredOptions(Reducer.TYPE).get(Reducer.KEEP_DIMS);
        operator.checkTypes(Set.of(DType.FLOAT32, DType.INT8, DType.INT16), data, operator.output());
        if (!data.dtype().isFloat()) {
            operator.checkScales(data, operator.output());
            if (kind == Kind.SUM || kind == Kind.MEAN) {
                operator.finish(sum(operator, kind, axes, keepDims));
                return;
            }
            operator.requireEqual(data, operator.output());
            operator.check();
        }
        operator.finish(new Reduce(kind, axes, keepDims), operator.value(data));
    }

    /** REDUCE_PROD; each step of quantized integers is rescaled (reduce.cc: GetQuantProdScaling). */
    private static void product(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        List<Integer> axes = axes(operator);
        boolean keepDims = operator.requiredOptions(Reducer.TYPE).get(Reducer.KEEP_DIMS);
        operator.checkTypes(
                Set.of(DType.FLOAT32, DType.INT8, DType.INT16, DType.INT32, DType.INT64), data, operator.output());
        if (!data.hasQuantizedType()) {
            operator.finish(new Reduce(Kind.PROD, axes, keepDims), operator.value(data));
            return;
        }
        TfliteTensor output = operator.output();
        operator.checkScales(data, output);
        long factors = axes.stream().mapToLong(data.shape()::dim).reduce(1, (a, b) -> a * b);
        double root = Math.pow(output.quantization().scale(0), 1.0 / Math.max(1, factors));
        double scaling = data.quantization().scale(0) / root;
        QuantizedMultiplier step = Requantizing.multiplier(operator, scaling);
        operator.requireThat(
                step.shift() <= TflProduct.MOST_SHIFT,
                "its scales multiply to " + scaling,
                "less than 2^" + TflProduct.MOST_SHIFT,
                CONVERT);
        TflProduct op = new TflProduct(
                axes,
                keepDims,
                step,
                data.quantization().zeroPoint(),
                output.quantization().zeroPoint());
        operator.finish(op, operator.value(data));
    }

    /** REDUCE_ANY and REDUCE_ALL: the largest and the smallest truth value. */
    private static void truth(OperatorContext operator, Kind kind) {
        TfliteTensor data = operator.input(0);
        List<Integer> axes = axes(operator);
        boolean keepDims = operator.requiredOptions(Reducer.TYPE).get(Reducer.KEEP_DIMS);
        operator.checkTypes(Set.of(DType.BOOL), data, operator.output());
        Formulas f = operator;
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
        operator.requireThat(
                terms <= most,
                "sums of " + terms + " elements may exceed 32 bits",
                "at most " + most + " elements in a sum",
                CONVERT);
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
        Arg real = operator.cast(sums, DType.FLOAT32);
        Arg scaled = operator.multiply(real, Constant.scalar(scale));
        Arg shifted = operator.add(scaled, Constant.scalar(bias));
        Arg rounded = operator.unary(Unary.Kind.ROUND_AWAY, shifted);
        Arg centred = operator.add(
                rounded, Constant.scalar((float) output.quantization().zeroPoint()));
        Arg limited = operator.emit(new Clip(Short.MIN_VALUE, Short.MAX_VALUE), centred);
        return operator.cast(limited, DType.INT16);
    }

    private static void index(OperatorContext operator, boolean largest) {
        TfliteTensor data = operator.input(0);
        operator.requireTypes(Set.of(DType.FLOAT32, DType.INT8, DType.INT32, DType.BOOL), data);
        operator.requireThat(
                INDEX.contains(operator.output().dtype()),
                "the output is " + operator.output().dtype().text(),
                OperatorContext.text(INDEX),
                "Ask for output_type int32");
        int axis = operator.axis(operator.input(1), data.shape().rank());
        Formulas f = operator;
        Arg value = data.dtype() == DType.BOOL ? f.cast(operator.value(data), DType.INT8) : operator.value(data);
        Arg index = operator.emit(new ArgReduce(largest, axis), value);
        Arg result = f.cast(index, operator.output().dtype());
        Shape stated = operator.outputShape(() -> operator.type(result).shape());
        boolean scalar =
                stated.elements() == 1 && !stated.equals(operator.type(result).shape());
        operator.finish(scalar ? operator.emit(new Reshape(stated), result) : result);
    }

    /** The largest elements of each vector and their places; equal ones in the order of their places (topk_v2.cc). */
    private static void largest(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor number = operator.input(1);
        List<TfliteTensor> outputs = operator.outputs();
        operator.require(outputs.size() == 2, "it has " + outputs.size() + " outputs", "values and indices", "");
        operator.require(data.shape().rank() > 0, "its data is a scalar", "one dimension or more", "");
        operator.require(
                Set.of(DType.INT32, DType.INT16).contains(number.dtype())
                        && number.shape().elements() == 1,
                "k is " + number.text(),
                "one int32 or int16");
        operator.requireConstant("k", number);
        operator.check();
        operator.requireTypes(
                Set.of(DType.FLOAT32, DType.INT8, DType.INT16, DType.INT32, DType.INT64), data, outputs.get(0));
        operator.requireTypes(Set.of(DType.INT32, DType.INT16), outputs.get(1));
        int size = data.shape().dim(-1);
        long k = operator.constant(number).integer(0);
        operator.requireThat(k >= 1 && k <= size, "k is " + k, "1 to " + size);
        if (data.hasQuantizedType() && data.quantization().isPresent()) {
            operator.requireEqual(data, outputs.get(0));
            operator.check();
        }
        Formulas f = operator;
        Shape shape = data.shape();
        Arg value = operator.value(data);
        Arg indices = operator.emit(new Topk((int) k, false), ordered(f, value));
        int rows = Math.toIntExact(shape.elements() / size);
        Arg flat = f.reshape(value, Shape.of(rows * size));
        Arg first = f.places(Shape.of(rows, 1), row -> row * size);
        Arg places = f.add(f.reshape(indices, Shape.of(rows, (int) k)), first);
        Arg values = f.reshape(f.take(flat, places, 0), f.shape(indices));
        operator.finish(outputs.get(0), values);
        operator.finish(outputs.get(1), f.cast(indices, outputs.get(1).dtype()));
    }

    /** Floats as integers in their order, so that those that are no numbers come last; 0 and -0 are equal. */
    private static Arg ordered(Formulas f, Arg value) {
        if (!f.dtype(value).isFloat()) {
            return value;
        }
        Arg bits = f.reinterpret(f.add(value, 0), DType.INT32);
        Arg mirrored = f.binary(Binary.Kind.BITWISE_XOR, bits, f.number(Integer.MAX_VALUE, DType.INT32));
        Arg key = f.where(f.less(bits, f.number(0, DType.INT32)), mirrored, bits);
        Arg isNumber = f.equal(value, value);
        return f.where(isNumber, key, f.number(Integer.MIN_VALUE, DType.INT32));
    }
}
