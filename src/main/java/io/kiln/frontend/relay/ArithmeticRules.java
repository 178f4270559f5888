// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.BiasAdd;
import io.kiln.ir.op.Binary;
import io.kiln.ir.op.Clip;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.QnnAdd;
import io.kiln.ir.op.QnnConv2d;
import io.kiln.ir.op.QnnDense;
import io.kiln.ir.op.QnnDequantize;
import io.kiln.ir.op.QnnQuantize;
import io.kiln.ir.op.QnnRequantize;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Softmax;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongBinaryOperator;

/** Operators that compute element by element. */
final class ArithmeticRules {
    private static final String TFLITE = Rounding.TFLITE.name();

    private ArithmeticRules() {}

    /** {@code qnn.requantize}; what TVM leaves to its configuration is as there by default: upward, in 64 bits. */
    static Value requantize(CallSite call) {
        call.arity(5);
        Attributes a = call.attributes();
        String rounding = a.choiceOr("rounding", "UPWARD", "UPWARD", "TONEAREST", "None");
        a.choiceOr("compute_dtype", QnnRequantize.COMPUTE_DTYPE, QnnRequantize.COMPUTE_DTYPE, "None");
        int axis = a.integer("axis", -4, 3, -1);
        a.choice("out_dtype", DType.INT8.text());
        Value data = call.value(0);
        boolean perChannel = call.value(1).type().shape().elements() > 1;
        boolean held = data.padding().isEmpty()
                && (data.widened() || data.channelsLast() || (data.flattened().isPresent() && !perChannel));
        Arg arg = held ? data.arg() : call.plain(0);
        Op op = new QnnRequantize(
                !held || !data.channelsLast() ? axis : perChannel ? DenseRules.heldAxis(axis) : -1,
                rounding.equals("TONEAREST") ? Rounding.TONEAREST : Rounding.UPWARD,
                DType.INT8);
        Arg result = call.emit(
                op, List.of(arg, call.plain(1), ZeroPoints.scalar(call.plain(2)), call.plain(3), call.plain(4)));
        TensorType type = new TensorType(data.type().shape(), DType.INT8);
        return held ? data.asWidened(false, type).with(result, type) : Value.plain(result, type);
    }

    /** {@code clip}. */
    static Value clip(CallSite call) {
        call.arity(1);
        return unary(
                call,
                new Clip(call.attributes().real("a_min"), call.attributes().real("a_max")));
    }

    /** {@code nn.relu} of float32, or of int8 whose zero point is 0. */
    static Value relu(CallSite call) {
        call.arity(1);
        boolean isFloat = call.value(0).type().dtype().isFloat();
        return unary(call, new Clip(0, isFloat ? Float.MAX_VALUE : Byte.MAX_VALUE));
    }

    /** {@code nn.softmax} over the last axis. */
    static Value softmax(CallSite call) {
        call.arity(1);
        int rank = call.value(0).type().shape().rank();
        int axis = call.attributes().integer("axis", -rank, Math.max(-1, rank - 1), -1);
        if (axis != -1 && axis != rank - 1) {
            throw new IllegalArgumentException("the axis " + axis + " is not the last");
        }
        return plain(call, new Softmax((float) call.attributes().real("beta", 1)));
    }

    /** {@code qnn.quantize}; TensorFlow Lite and TVM compute the same. */
    static Value quantize(CallSite call) {
        call.arity(3);
        call.attributes().choiceOr("rounding", TFLITE, TFLITE);
        call.attributes().integer("axis", -4, 3, -1);
        return plain(call, new QnnQuantize(call.attributes().dtype("out_dtype", DType.INT8, DType.INT16)));
    }

    /** {@code qnn.dequantize}. */
    static Value dequantize(CallSite call) {
        call.arity(3);
        call.attributes().integer("axis", -4, 3, -1);
        call.attributes().choiceOr("out_dtype", "float32", "float32");
        return plain(call, new QnnDequantize());
    }

    /** {@code qnn.add}: in TensorFlow Lite's arithmetic if it says so, else in TVM's. */
    static Value addQuantized(CallSite call) {
        call.arity(8);
        String rounding = call.attributes().choiceOr("rounding", Rounding.UPWARD.name(), TFLITE, "UPWARD");
        call.attributes().integer("lhs_axis", -1, -1, -1);
        call.attributes().integer("rhs_axis", -1, -1, -1);
        return binary(call, new QnnAdd(Rounding.valueOf(rounding)));
    }

    /** {@code add}: of tensors, of constants, or of a layer's sums and a bias. */
    static Value add(CallSite call) {
        call.arity(2);
        boolean isFloat = call.value(0).type().dtype().isFloat();
        if (!isFloat && areConstant(call)) {
            return folded(call, Long::sum);
        }
        if (isFloat || (!isSum(call, call.value(0)) && !isSum(call, call.value(1)))) {
            return binary(call, new Binary(Binary.Kind.ADD));
        }
        int bias = call.value(0).arg() instanceof Constant ? 0 : 1;
        Value data = call.value(1 - bias);
        Constant vector = biasVector(data, call.constant(bias));
        boolean held = data.channelsLast() && data.isWhole();
        Arg arg = held ? data.arg() : call.plain(1 - bias);
        Arg result = call.emit(new BiasAdd(-1), List.of(arg, vector));
        return held ? data.with(result, data.type()) : Value.plain(result, call.type(result));
    }

    /** Whether a layer sums it up in integers. */
    private static boolean isSum(CallSite call, Value value) {
        return call.producer(value.arg())
                .filter(b -> b.op() instanceof QnnConv2d || b.op() instanceof QnnDense)
                .isPresent();
    }

    /** {@code multiply} of tensors or constants. */
    static Value multiply(CallSite call) {
        call.arity(2);
        boolean folds = areConstant(call) && !call.value(0).type().dtype().isFloat();
        return folds ? folded(call, (x, y) -> x * y) : binary(call, new Binary(Binary.Kind.MULTIPLY));
    }

    private static boolean areConstant(CallSite call) {
        return call.args().stream().allMatch(value -> value.arg() instanceof Constant && value.isPlain());
    }

    /** A constant that has one element for each channel, or one for all. */
    private static Constant biasVector(Value data, Constant bias) {
        Shape shape = data.type().shape();
        int axis = data.channelsLast() ? 1 : shape.rank() - 1;
        int channels = shape.rank() == 0 ? 1 : shape.dim(axis);
        Shape own = bias.type().shape();
        int at = own.rank() - (shape.rank() - axis);
        boolean fits = data.type().dtype() == DType.INT32
                && bias.type().dtype() == DType.INT32
                && own.rank() <= shape.rank()
                && (own.elements() == 1 || (at >= 0 && own.elements() == channels && own.dim(at) == channels));
        if (!fits) {
            throw new IllegalArgumentException("int32 " + shape.text() + " and " + own.text()
                    + " cannot be added: expected a constant with one element for each channel");
        }
        return Constants.of(
                bias.name(),
                new TensorType(Shape.of(channels), DType.INT32),
                i -> bias.integer(bias.elements() == 1 ? 0 : i));
    }

    private static Value folded(CallSite call, LongBinaryOperator operator) {
        Constant lhs = call.constant(0);
        Constant rhs = call.constant(1);
        boolean same = lhs.type().dtype() == rhs.type().dtype();
        boolean fits = lhs.elements() == 1
                || rhs.elements() == 1
                || lhs.type().shape().equals(rhs.type().shape());
        if (!same || !fits || !lhs.type().dtype().isInteger()) {
            throw new IllegalArgumentException("constants " + lhs.type().text() + " and "
                    + rhs.type().text() + " do not fit: expected the same type, or one element");
        }
        Constant larger =
                lhs.type().shape().rank() >= rhs.type().shape().rank() && lhs.elements() >= rhs.elements() ? lhs : rhs;
        Constant result = Constants.of(
                "",
                larger.type(),
                i -> operator.applyAsLong(
                        lhs.integer(lhs.elements() == 1 ? 0 : i), rhs.integer(rhs.elements() == 1 ? 0 : i)));
        return Value.plain(result, result.type());
    }

    /** An operator that does not care for the order of dimensions. */
    private static Value unary(CallSite call, Op op) {
        Value data = call.value(0);
        Arg arg = data.isWhole() ? data.arg() : call.plain(0);
        Arg result = call.emit(op, List.of(arg));
        return data.with(
                result, new TensorType(data.type().shape(), call.type(result).dtype()));
    }

    /** Both sides are held the same way, or as the text has them. */
    private static Value binary(CallSite call, Op op) {
        Value lhs = call.value(0);
        Value rhs = call.value(1);
        boolean nhwc = (lhs.channelsLast() || rhs.channelsLast())
                && lhs.isWhole()
                && rhs.isWhole()
                && lhs.type().shape().rank() == 4
                && rhs.type().shape().rank() == 4;
        List<Arg> args = new ArrayList<>();
        args.add(nhwc ? Layouts.channelsLast(call, lhs).arg() : call.plain(0));
        args.add(nhwc ? Layouts.channelsLast(call, rhs).arg() : call.plain(1));
        args.addAll(call.plainFrom(2));
        Arg result = call.emit(op, args);
        TensorType type = call.type(result);
        return nhwc
                ? Value.channelsLast(
                        result, new TensorType(Layouts.permuted(type.shape(), Layouts.TO_CHANNELS_FIRST), type.dtype()))
                : Value.plain(result, type);
    }

    /** An operator on what the text has. */
    static Value plain(CallSite call, Op op) {
        Arg result = call.emit(op, call.plainFrom(0));
        return Value.plain(result, call.type(result));
    }
}
