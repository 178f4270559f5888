// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import static java.util.Map.entry;

import io.kiln.base.DType;
import io.kiln.frontend.relay.pattern.Rescalings;
import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.CallSite.Rule;
import io.kiln.frontend.relay.value.Value;
import io.kiln.frontend.relay.value.Value.Constants;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.FixedPointMultiply;
import io.kiln.ir.op.element.Full;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.element.Where;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Element-wise operators, independent of the order of dimensions, and TVM's products with 31-bit fixed-point numbers. */
final class ElementRules {
    /** Operators with special rules. */
    private static final Map<String, Rule> SPECIAL = Map.ofEntries(
            entry("add", Rule.of(2, SumRules::add)),
            entry("cast", Rule.of(1, ElementRules::cast)),
            entry("clip", Rule.of(1, ElementRules::clip)),
            entry("isfinite", Rule.of(1, ElementRules::isFinite)),
            entry("multiply", Rule.of(2, SumRules::multiply)),
            entry("negative", Rule.of(1, ElementRules::negative)),
            entry("nn.relu", Rule.of(1, ElementRules::relu)),
            entry("qnn.add", Rule.of(8, ElementRules::addQuantized)),
            entry("qnn.dequantize", Rule.of(3, ElementRules::dequantize)),
            entry("qnn.quantize", Rule.of(3, ElementRules::quantize)),
            entry("subtract", Rule.of(2, SumRules::subtract)),
            entry("where", Rule.of(3, ElementRules::where)));

    static final Map<String, Rule> ALL = all();

    private static final int FRACTION_BITS = 31;

    private static final String TFLITE = Rounding.TFLITE.name();

    private static final int RANK = 4;

    private ElementRules() {}

    /** An operator of one tensor. */
    private static Value unary(CallSite call, Op op) {
        Value data = call.whole(call.value(0));
        Arg result = call.emit(op, List.of(data.isSpread() ? call.plain(data) : data.arg()));
        return data.with(
                result, new TensorType(data.type().shape(), call.type(result).dtype()));
    }

    /** An operator of one tensor without attributes. */
    private static Value unary(CallSite call, Op op, int arity) {
        call.arity(arity);
        return unary(call, op);
    }

    /** {@code negative}: for integers, the difference from 0. */
    private static Value negative(CallSite call) {
        Value data = call.whole(call.value(0));
        DType dtype = data.type().dtype();
        if (dtype.isFloat()) {
            return unary(call, new Unary(Unary.Kind.NEGATIVE));
        }
        Arg result = call.emit(new Binary(Binary.Kind.SUBTRACT), List.of(Constants.scalar(0, dtype), data.arg()));
        return data.with(result, data.type());
    }

    /** {@code isfinite}: a value is finite if its difference from itself is 0. */
    private static Value isFinite(CallSite call) {
        Value data = call.whole(call.value(0));
        Arg difference = call.emit(new Binary(Binary.Kind.SUBTRACT), List.of(data.arg(), data.arg()));
        Arg result = call.emit(new Binary(Binary.Kind.EQUAL), List.of(difference, Constants.scalar(0, DType.FLOAT32)));
        return data.with(result, new TensorType(data.type().shape(), DType.BOOL));
    }

    /** A function of two tensors. */
    static Value binary(CallSite call, Binary.Kind kind) {
        call.arity(2);
        return binary(call, new Binary(kind));
    }

    /** Both operands in the same layout, or in that of the text. */
    static Value binary(CallSite call, Op op) {
        Value lhs = compact(call, call.value(0));
        Value rhs = compact(call, call.value(1));
        List<Arg> args = new ArrayList<>();
        if (isOfRows(lhs, rhs)) {
            args.addAll(List.of(lhs.arg(), rhs.arg()));
            Arg result = call.emit(op, args);
            return lhs.with(
                    result, new TensorType(lhs.type().shape(), call.type(result).dtype()));
        }
        boolean nhwc = (lhs.channelsLast() || rhs.channelsLast()) && canBeImage(lhs) && canBeImage(rhs);
        args.add(nhwc ? image(call, lhs) : call.plain(lhs));
        args.add(nhwc ? image(call, rhs) : call.plain(rhs));
        args.addAll(call.plainFrom(2));
        Arg result = call.emit(op, args);
        TensorType type = call.type(result);
        if (nhwc) {
            return Value.channelsLast(
                    result, new TensorType(Value.permuted(type.shape(), Value.TO_CHANNELS_FIRST), type.dtype()));
        }
        return spread(call, result, type);
    }

    /** A result computed from repeated constants only is repeated, too. */
    private static Value spread(CallSite call, Arg result, TensorType type) {
        Shape whole = call.args().stream()
                .limit(2)
                .map(value -> value.type().shape())
                .reduce(type.shape(), (a, b) -> b.elements() > a.elements() ? b : a);
        return Value.plain(result, new TensorType(result instanceof Constant ? whole : type.shape(), type.dtype()));
    }

    /** Whether the left operand is flattened NCHW and the right one a single number. */
    private static boolean isOfRows(Value lhs, Value rhs) {
        return lhs.flattened().isPresent()
                && rhs.arg() instanceof Constant constant
                && constant.elements() == 1
                && constant.type().shape().rank() <= lhs.type().shape().rank();
    }

    /** A repeated constant without the repetition. */
    private static Value compact(CallSite call, Value value) {
        Value whole = call.whole(value);
        return whole.isSpread() ? Value.plain(whole.arg(), ((Constant) whole.arg()).type()) : whole;
    }

    private static boolean canBeImage(Value value) {
        boolean isConstant = value.arg() instanceof Constant && value.isPlain();
        return value.channelsLast()
                || value.type().shape().rank() == RANK
                || (isConstant && value.type().shape().rank() < RANK);
    }

    /** As NHWC; a constant of lower rank gets leading dimensions of 1. */
    private static Arg image(CallSite call, Value value) {
        if (!(value.arg() instanceof Constant constant) || value.type().shape().rank() == RANK) {
            return call.channelsLast(value).arg();
        }
        List<Integer> dims = new ArrayList<>(constant.type().shape().dims());
        while (dims.size() < RANK) {
            dims.add(0, 1);
        }
        Arg wide = call.reshape(constant, new Shape(dims));
        return call.transpose((Constant) wide, Value.TO_CHANNELS_LAST);
    }

    /** {@code clip} of int64: a maximum, then a minimum. */
    private static Value limited(CallSite call, Clip clip) {
        Value data = call.whole(call.value(0));
        Arg above = call.emit(
                new Binary(Binary.Kind.MAXIMUM), List.of(data.arg(), Constants.scalar(clip.min(), DType.INT64)));
        Arg within =
                call.emit(new Binary(Binary.Kind.MINIMUM), List.of(above, Constants.scalar(clip.max(), DType.INT64)));
        return data.with(within, data.type());
    }

    private static Value where(CallSite call) {
        List<Value> values =
                call.args().stream().map(value -> compact(call, value)).toList();
        boolean nhwc =
                values.stream().anyMatch(Value::channelsLast) && values.stream().allMatch(ElementRules::canBeImage);
        List<Arg> args = values.stream()
                .map(value -> nhwc ? image(call, value) : call.plain(value))
                .toList();
        Arg result = call.emit(new Where(), args);
        TensorType type = call.type(result);
        return nhwc
                ? Value.channelsLast(
                        result, new TensorType(Value.permuted(type.shape(), Value.TO_CHANNELS_FIRST), type.dtype()))
                : Value.plain(result, type);
    }

    /**
     * {@code cast}. From int8 to int32 and back it only tells how other operators compute, such as {@code
     * nn.avg_pool2d}; it is computed where something else reads the value.
     */
    private static Value cast(CallSite call) {
        Value data = call.value(0);
        DType from = data.type().dtype();
        DType to = call.attributes().dtype("dtype");
        TensorType type = new TensorType(data.type().shape(), to);
        if (call.isOwn()) {
            return computed(call, call.whole(data), to);
        }
        if (from == to) {
            return data;
        }
        boolean isWhole = from.isInteger() && to.isInteger();
        if (data.isPlain() && data.arg() instanceof Constant constant && isWhole) {
            return Value.plain(Constants.cast(constant, to), type);
        }
        boolean widens = from == DType.INT8 && to == DType.INT32 && !data.widened();
        boolean narrows = from == DType.INT32 && to == DType.INT8 && data.widened();
        if (widens || narrows) {
            return data.asWidened(widens, type);
        }
        return computed(call, call.whole(data), to);
    }

    private static Value computed(CallSite call, Value whole, DType to) {
        Arg arg = whole.isSpread() ? call.plain(whole) : whole.arg();
        return whole.with(
                Rescalings.narrowed(call, arg, to).orElseGet(() -> call.emit(new Cast(to), List.of(arg))),
                new TensorType(whole.type().shape(), to));
    }

    /** {@code zeros}, {@code ones} and {@code full} of a constant: one element that represents all. */
    static Value filled(CallSite call, double value) {
        call.arity(0);
        Shape shape = new Shape(call.attributes().integers("shape", 1, Integer.MAX_VALUE));
        DType dtype = call.attributes().dtype("dtype");
        return Value.plain(Constants.scalar(value, dtype), new TensorType(shape, dtype));
    }

    static Value full(CallSite call) {
        Shape shape = new Shape(call.attributes().integers("shape", 1, Integer.MAX_VALUE));
        Value value = call.value(0);
        DType own = value.type().dtype();
        DType dtype = call.attributes().has("dtype") ? call.attributes().dtype("dtype") : own;
        if (dtype != own) {
            throw new IllegalArgumentException("the fill value is " + own.text() + ", not " + dtype.text());
        }
        if (!call.isOwn() && value.isPlain() && value.arg() instanceof Constant constant) {
            return Value.plain(constant, new TensorType(shape, dtype));
        }
        return call.compute(new Full(shape), List.of(call.plain(0)));
    }

    /** {@code broadcast_to}; a constant is not expanded. */
    static Value broadcast(CallSite call) {
        Shape shape = new Shape(call.attributes().integers("shape", 1, Integer.MAX_VALUE));
        if (call.attributes().has("dtype")) {
            call.attributes().dtype("dtype");
        }
        Op op = new BroadcastTo(shape);
        Value value = call.value(0);
        if (!call.isOwn() && value.isPlain() && value.arg() instanceof Constant constant) {
            return Value.plain(constant, op.infer(List.of(constant.type())));
        }
        return call.compute(op, List.of(call.plain(0)));
    }

    /** {@code qnn.requantize}; options of TVM's configuration have TVM's defaults: rounding upward, in 64 bits. */
    static Value requantize(CallSite call) {
        Attributes a = call.attributes();
        String rounding = a.choiceOr("rounding", "UPWARD", "UPWARD", "TONEAREST", "ONNX", "None");
        a.choiceOr("compute_dtype", QnnRequantize.COMPUTE_DTYPE, QnnRequantize.COMPUTE_DTYPE, "None");
        int axis = a.integer("axis", -4, 3, -1);
        a.choice("out_dtype", DType.INT8.text());
        Value data = call.value(0);
        boolean perChannel = call.value(1).type().shape().elements() > 1;
        boolean held = data.padding().isEmpty()
                && (data.widened() || data.channelsLast() || (data.flattened().isPresent() && !perChannel));
        Arg arg = held ? data.arg() : call.plain(0);
        Op op = new QnnRequantize(
                !held || !data.channelsLast() ? axis : perChannel ? ConvolutionRules.heldAxis(axis) : -1,
                rounding.equals("None") ? Rounding.UPWARD : Rounding.valueOf(rounding),
                DType.INT8);
        Arg result = call.emit(
                op,
                List.of(arg, call.plain(1), Constants.commonZeroPoint(call.plain(2)), call.plain(3), call.plain(4)));
        TensorType type = new TensorType(data.type().shape(), DType.INT8);
        return held ? data.asWidened(false, type).with(result, type) : Value.plain(result, type);
    }

    private static Value clip(CallSite call) {
        Clip clip = new Clip(call.attributes().real("a_min"), call.attributes().real("a_max"));
        return call.value(0).type().dtype() == DType.INT64 ? limited(call, clip) : unary(call, clip);
    }

    /** {@code nn.relu} of float32, or of int8 whose zero point is 0. */
    private static Value relu(CallSite call) {
        boolean isFloat = call.value(0).type().dtype().isFloat();
        return unary(
                call,
                new Clip(
                        0,
                        isFloat ? Float.MAX_VALUE : call.value(0).type().dtype().max()));
    }

    /** {@code nn.softmax} over the last axis. */
    static Value softmax(CallSite call) {
        int rank = call.value(0).type().shape().rank();
        int axis = call.attributes().integer("axis", -rank, Math.max(-1, rank - 1), -1);
        if (axis != -1 && axis != rank - 1) {
            throw new IllegalArgumentException("the axis " + axis + " is not the last");
        }
        return call.compute(new Softmax((float) call.attributes().real("beta", 1)));
    }

    /** {@code qnn.quantize}; TensorFlow Lite and TVM compute the same, ONNX has a rounding of its own. */
    private static Value quantize(CallSite call) {
        String rounding = call.attributes().choiceOr("rounding", TFLITE, TFLITE, Rounding.ONNX.name());
        call.attributes().integer("axis", -4, 3, -1);
        return call.compute(new QnnQuantize(
                call.attributes().dtype("out_dtype", DType.INT8, DType.INT16), Rounding.valueOf(rounding)));
    }

    private static Value dequantize(CallSite call) {
        call.attributes().integer("axis", -4, 3, -1);
        call.attributes().choiceOr("out_dtype", "float32", "float32");
        return call.compute(new QnnDequantize());
    }

    /** {@code qnn.add}: in TensorFlow Lite's arithmetic if an attribute says so, otherwise in TVM's. */
    private static Value addQuantized(CallSite call) {
        String rounding = call.attributes().choiceOr("rounding", Rounding.UPWARD.name(), TFLITE, "UPWARD");
        call.attributes().integer("lhs_axis", -1, -1, -1);
        call.attributes().integer("rhs_axis", -1, -1, -1);
        return binary(call, new QnnAdd(Rounding.valueOf(rounding)));
    }

    /** {@code fixed_point_multiply}: the shift is to the left. */
    static Value perTensor(CallSite call) {
        if (call.args().size() == FixedPointMultiply.SHIFT + 1) {
            String rounding = call.attributes().choice("rounding", "UPWARD", "TONEAREST");
            return call.compute(new FixedPointMultiply(Rounding.valueOf(rounding)));
        }
        call.arity(1);
        int multiplier = call.attributes().integer("multiplier", Integer.MIN_VALUE, Integer.MAX_VALUE);
        int left = call.attributes().integer("shift", -FRACTION_BITS, FRACTION_BITS - 1);
        Value data = call.whole(call.value(0));
        Arg result = call.emit(
                new FixedPointMultiply(Rounding.UPWARD),
                List.of(data.arg(), Constant.scalar(multiplier), Constant.scalar(FRACTION_BITS - left)));
        return data.with(result, data.type());
    }

    static Value perAxis(CallSite call) {
        Value data = call.whole(call.value(0));
        int rank = data.type().shape().rank();
        boolean shiftsLeft = call.attributes().truth("is_lshift_required", false);
        call.attributes().truth("is_rshift_required", false);
        List<Integer> axes = call.attributes().integers("axes", -rank, Math.max(0, rank - 1), 1);
        if (rank == 0 || axes.size() != 1) {
            throw new IllegalArgumentException("axes " + axes + " are not one of the data's");
        }
        int given = axes.get(0) < 0 ? axes.get(0) + rank : axes.get(0);
        int axis = data.channelsLast() ? ConvolutionRules.heldAxis(given) : given;
        if (data.flattened().isPresent()) {
            data = Value.plain(call.plain(data), data.type());
        }
        int channels = call.type(data.arg()).shape().dim(axis);
        List<Constant> vectors =
                List.of(vector(call, 1, channels), vector(call, 2, channels), vector(call, 3, channels));
        List<Integer> dims = new ArrayList<>(Collections.nCopies(rank, 1));
        dims.set(axis, channels);
        TensorType type = new TensorType(axis == rank - 1 ? Shape.of(channels) : new Shape(dims), DType.INT32);
        Constant shift = Constant.integers("", type, i -> {
            long left = shiftsLeft ? vectors.get(1).integer(i) : 0;
            return FRACTION_BITS + vectors.get(2).integer(i) - left;
        });
        Arg result = call.emit(
                new FixedPointMultiply(Rounding.UPWARD),
                List.of(
                        data.arg(),
                        Constant.integers("", type, i -> vectors.get(0).integer(i)),
                        shift));
        return data.with(result, data.type());
    }

    private static Constant vector(CallSite call, int argument, int channels) {
        Constant constant = call.constant(argument);
        if (constant.elements() != channels || constant.type().dtype() != DType.INT32) {
            throw new IllegalArgumentException("argument " + (argument + 1) + " is "
                    + constant.type().text() + ": expected int32 with " + channels + " elements");
        }
        return constant;
    }

    private static Map<String, Rule> all() {
        Map<String, Rule> all = new HashMap<>(SPECIAL);
        for (Binary.Kind kind : Binary.Kind.values()) {
            all.putIfAbsent(new Binary(kind).name(), call -> binary(call, kind));
        }
        for (Unary.Kind kind : Unary.Kind.values()) {
            all.putIfAbsent(new Unary(kind).name(), call -> unary(call, new Unary(kind), 1));
        }
        return Map.copyOf(all);
    }
}
