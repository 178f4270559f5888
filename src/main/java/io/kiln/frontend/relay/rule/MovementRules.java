// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import static java.util.Map.entry;

import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.CallSite.Rule;
import io.kiln.frontend.relay.value.Value;
import io.kiln.frontend.relay.value.Value.Constants;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Operators that copy elements, look them up, fill tensors with them, or change dimensions only. */
final class MovementRules {
    private static final int MAX_RANK = 8;

    static final Map<String, Rule> ALL = Map.ofEntries(
            entry("annotation.cast_hint", MovementRules::same),
            entry("annotation.stop_fusion", MovementRules::same),
            entry("broadcast_to", Rule.of(1, ElementRules::broadcast)),
            entry("concatenate", MovementRules::concatenate),
            entry("expand_dims", Rule.of(1, MovementRules::expand)),
            entry("full", Rule.of(1, ElementRules::full)),
            entry("layout_transform", Rule.of(1, MovementRules::layoutTransform)),
            entry("nn.batch_flatten", Rule.of(1, MovementRules::flatten)),
            entry("nn.pad", PoolRules::pad),
            entry("ones", call -> ElementRules.filled(call, 1)),
            entry("ref_read", Rule.of(1, MovementRules::variable)),
            entry("reshape", Rule.of(1, MovementRules::reshape)),
            entry("qnn.concatenate", MovementRules::rescaledAndConcatenated),
            entry("squeeze", Rule.of(1, MovementRules::squeeze)),
            entry("strided_slice", Rule.of(1, MovementRules::slice)),
            entry("transpose", Rule.of(1, MovementRules::transpose)),
            entry("zeros", call -> ElementRules.filled(call, 0)));

    private MovementRules() {}

    /** {@code concatenate} of its arguments. */
    private static Value concatenate(CallSite call) {
        return call.compute(new Concatenate(axis(call), call.args().size()));
    }

    private static int axis(CallSite call) {
        int axis = call.attributes().integer("axis", -8, 7, 0);
        return axis < 0 ? axis + call.value(0).type().shape().rank() : axis;
    }

    /**
     * {@code qnn.concatenate} of tensors, their scales, their zero points, and scale and zero point of the result: a tensor of another
     * scale or zero point is rescaled first, as {@code qnn.requantize} does by default.
     */
    private static Value rescaledAndConcatenated(CallSite call) {
        int count = (call.args().size() - 2) / 3;
        if (count < 1 || call.args().size() != 3 * count + 2) {
            throw new IllegalArgumentException(
                    "it takes as many scales and zero points as tensors, then those of the result");
        }
        List<Constant> to = List.of(call.constant(3 * count), call.constant(3 * count + 1));
        List<Arg> parts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Arg part = call.plain(i);
            List<Constant> from = List.of(call.constant(count + i), call.constant(2 * count + i));
            QnnRequantize rescaling =
                    new QnnRequantize(-1, Rounding.UPWARD, call.type(part).dtype());
            parts.add(
                    areEqual(from, to)
                            ? part
                            : call.emit(rescaling, List.of(part, from.get(0), from.get(1), to.get(0), to.get(1))));
        }
        return call.compute(new Concatenate(axis(call), count), parts);
    }

    private static boolean areEqual(List<Constant> from, List<Constant> to) {
        return Constants.number(from.get(0)) == Constants.number(to.get(0))
                && Constants.number(from.get(1)) == Constants.number(to.get(1));
    }

    /**
     * {@code strided_slice} along its axes, or along the first dimensions if it names none. Strides that are missing are 1; with {@code
     * slice_mode="size"} the ends are sizes, and there are no strides.
     */
    private static Value slice(CallSite call) {
        Shape shape = call.value(0).type().shape();
        Attributes attributes = call.attributes();
        List<Integer> begin = attributes.integers("begin", Integer.MIN_VALUE, Integer.MAX_VALUE);
        List<Integer> end = attributes.integers("end", Integer.MIN_VALUE, Integer.MAX_VALUE);
        List<Integer> strides = attributes.integers("strides", Integer.MIN_VALUE, Integer.MAX_VALUE, List.of());
        List<Integer> axes = attributes.integers("axes", -shape.rank(), Math.max(0, shape.rank() - 1), List.of());
        boolean isSizes =
                attributes.choiceOr("slice_mode", "end", "end", "size").equals("size");
        int count = axes.isEmpty() ? Math.max(begin.size(), end.size()) : axes.size();
        if (count > shape.rank() || begin.size() > count || end.size() > count || strides.size() > count) {
            throw new IllegalArgumentException("begin " + begin + ", end " + end + ", strides " + strides + " and axes "
                    + axes + " do not fit " + shape.text());
        }
        List<Integer> from = new ArrayList<>(Collections.nCopies(shape.rank(), 0));
        List<Integer> to = new ArrayList<>(shape.dims());
        List<Integer> steps = new ArrayList<>(Collections.nCopies(shape.rank(), 1));
        for (int i = 0; i < count; i++) {
            int axis = axes.isEmpty() ? i : Math.floorMod(axes.get(i), shape.rank());
            int step = isSizes || i >= strides.size() ? 1 : strides.get(i);
            int last = step < 0 ? -shape.dim(axis) - 1 : shape.dim(axis);
            steps.set(axis, step);
            from.set(axis, i < begin.size() ? begin.get(i) : step < 0 ? shape.dim(axis) - 1 : 0);
            to.set(axis, i >= end.size() || (isSizes && end.get(i) < 0) ? last : end.get(i));
            if (isSizes && i < end.size() && end.get(i) >= 0) {
                to.set(axis, from.get(axis) + end.get(i));
            }
        }
        return call.compute(new StridedSlice(from, to, steps));
    }

    /** The value that a variable has then: Kiln's operators take the variable itself. */
    private static Value variable(CallSite call) {
        return call.value(0);
    }

    /** A hint for TVM's compiler that does not change the value. */
    private static Value same(CallSite call) {
        call.attributes().ignoreOthers();
        return call.value(0);
    }

    /** {@code reshape}: 0 keeps a dimension, -1 is inferred. */
    private static Value reshape(CallSite call) {
        List<Integer> given = call.attributes().integers("newshape", -1, Integer.MAX_VALUE);
        boolean allowsZero = call.attributes().truth("allowzero", false);
        if (allowsZero && given.contains(0)) {
            throw new IllegalArgumentException("a dimension of 0 (allowzero) is not supported");
        }
        Shape from = call.value(0).type().shape();
        return reshaped(call, call.value(0), resolved(from, given));
    }

    private static Shape resolved(Shape from, List<Integer> given) {
        List<Integer> dims = new ArrayList<>();
        long known = 1;
        for (int i = 0; i < given.size(); i++) {
            int dim = given.get(i);
            if (dim == 0 && i >= from.rank()) {
                throw new IllegalArgumentException(
                        "newshape has 0 where the data, " + from.text() + ", has no dimension");
            }
            dims.add(dim == 0 ? from.dim(i) : dim);
            known = dim < 0 ? known : Math.multiplyExact(known, dims.get(i));
        }
        int inferred = dims.indexOf(-1);
        if (inferred >= 0) {
            if (dims.lastIndexOf(-1) > inferred || from.elements() % known != 0) {
                throw new IllegalArgumentException("newshape " + given + " does not fit the data, " + from.text());
            }
            dims.set(inferred, Math.toIntExact(from.elements() / known));
        }
        return new Shape(dims);
    }

    private static Value flatten(CallSite call) {
        Shape from = call.value(0).type().shape();
        if (from.rank() == 0) {
            throw new IllegalArgumentException("a scalar has no batch");
        }
        return reshaped(call, call.value(0), resolved(from, List.of(from.dim(0), -1)));
    }

    /** {@code squeeze}: without axes, removes all dimensions of 1. */
    private static Value squeeze(CallSite call) {
        Shape from = call.value(0).type().shape();
        List<Integer> all = IntStream.range(0, from.rank())
                .filter(i -> from.dim(i) == 1)
                .boxed()
                .toList();
        List<Integer> axes = call.attributes().integers("axis", -from.rank(), from.rank() - 1, all).stream()
                .map(axis -> axis < 0 ? axis + from.rank() : axis)
                .toList();
        if (axes.stream().anyMatch(axis -> from.dim(axis) != 1)) {
            throw new IllegalArgumentException("axis " + axes + " of " + from.text() + " is not of 1");
        }
        List<Integer> dims = IntStream.range(0, from.rank())
                .filter(i -> !axes.contains(i))
                .mapToObj(from::dim)
                .toList();
        return reshaped(call, call.value(0), new Shape(dims));
    }

    private static Value expand(CallSite call) {
        Shape from = call.value(0).type().shape();
        int axis = call.attributes().integer("axis", -from.rank() - 1, from.rank());
        int count = call.attributes().integer("num_newaxis", 0, MAX_RANK, 1);
        List<Integer> dims = new ArrayList<>(from.dims());
        for (int i = 0; i < count; i++) {
            dims.add(axis < 0 ? axis + from.rank() + 1 : axis, 1);
        }
        return reshaped(call, call.value(0), new Shape(dims));
    }

    /** {@code transpose}: constants are transposed at once; between NCHW and NHWC only if a reader needs that order. */
    private static Value transpose(CallSite call) {
        Shape from = call.value(0).type().shape();
        List<Integer> reversed = IntStream.range(0, from.rank())
                .mapToObj(i -> from.rank() - 1 - i)
                .toList();
        List<Integer> axes = call.attributes().integers("axes", -from.rank(), from.rank() - 1, reversed).stream()
                .map(axis -> axis < 0 ? axis + from.rank() : axis)
                .toList();
        if (axes.size() != from.rank() || axes.stream().distinct().count() != axes.size()) {
            throw new IllegalArgumentException("axes " + axes + " are not all those of " + from.text());
        }
        if (call.isOwn()) {
            return call.compute(new Transpose(axes), List.of(call.plain(0)));
        }
        return transposed(call, call.value(0), axes);
    }

    /** {@code layout_transform} between NCHW and NHWC. */
    private static Value layoutTransform(CallSite call) {
        String from = call.attributes().choice("src_layout", "NHWC", "NCHW");
        String to = call.attributes().choice("dst_layout", "NHWC", "NCHW");
        if (call.value(0).type().shape().rank() != 4) {
            throw new IllegalArgumentException("data must have rank 4");
        }
        return from.equals(to)
                ? call.value(0)
                : transposed(
                        call, call.value(0), from.equals("NHWC") ? Value.TO_CHANNELS_FIRST : Value.TO_CHANNELS_LAST);
    }

    private static Value transposed(CallSite call, Value data, List<Integer> axes) {
        Shape from = data.type().shape();
        TensorType type = new TensorType(Value.permuted(from, axes), data.type().dtype());
        if (data.isWhole() && data.channelsLast() && axes.equals(Value.TO_CHANNELS_LAST)) {
            return Value.plain(data.arg(), type);
        }
        Arg plain = call.plain(data);
        if (plain instanceof Constant constant) {
            return Value.plain(call.transpose(constant, axes), type);
        }
        List<Integer> moving = axes.stream().filter(axis -> from.dim(axis) > 1).toList();
        if (moving.equals(moving.stream().sorted().toList())) {
            return Value.plain(call.reshape(plain, type.shape()), type);
        }
        if (axes.equals(Value.TO_CHANNELS_FIRST)) {
            return Value.channelsLast(plain, type);
        }
        return Value.plain(call.emit(new Transpose(axes), List.of(plain)), type);
    }

    /** The elements in the same order under other dimensions; NCHW data held as NHWC stays so, flattened. */
    private static Value reshaped(CallSite call, Value data, Shape to) {
        Shape from = data.type().shape();
        TensorType type = new TensorType(to, data.type().dtype());
        if (from.elements() != to.elements()) {
            throw new IllegalArgumentException(
                    "reshape from " + from.text() + " to " + to.text() + " changes the number of elements");
        }
        if (to.equals(from) && !data.isPlain()) {
            return data;
        }
        boolean flattens = data.isWhole()
                && data.channelsLast()
                && !Value.isSameOrder(from)
                && to.equals(Shape.of(from.dim(0), from.dim(1) * from.dim(2) * from.dim(3)));
        if (flattens) {
            Arg flat = call.reshape(data.arg(), to);
            return data.with(flat, data.type()).flattenedTo(type);
        }
        Arg plain = call.plain(data);
        if (plain instanceof Constant) {
            return Value.plain(call.reshape(plain, to), type);
        }
        return Value.plain(call.emit(new Reshape(to), List.of(plain)), type);
    }
}
