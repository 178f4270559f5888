// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.Layouts;
import io.kiln.frontend.relay.value.Value;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Operators that change dimensions but not elements. */
final class ShapeRules {
    private static final int MAX_RANK = 8;

    private ShapeRules() {}

    /** {@code reshape}: 0 keeps a dimension, -1 is inferred. */
    static Value reshape(CallSite call) {
        call.arity(1);
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

    /** {@code nn.batch_flatten}. */
    static Value flatten(CallSite call) {
        call.arity(1);
        Shape from = call.value(0).type().shape();
        if (from.rank() == 0) {
            throw new IllegalArgumentException("a scalar has no batch");
        }
        return reshaped(call, call.value(0), resolved(from, List.of(from.dim(0), -1)));
    }

    /** {@code squeeze}: without axes, removes all dimensions of 1. */
    static Value squeeze(CallSite call) {
        call.arity(1);
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

    /** {@code expand_dims}. */
    static Value expand(CallSite call) {
        call.arity(1);
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
    static Value transpose(CallSite call) {
        call.arity(1);
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
            Arg value = call.emit(new Transpose(axes), List.of(call.plain(0)));
            return Value.plain(value, call.type(value));
        }
        return transposed(call, call.value(0), axes);
    }

    /** {@code layout_transform} between NCHW and NHWC. */
    static Value layoutTransform(CallSite call) {
        call.arity(1);
        String from = call.attributes().choice("src_layout", "NHWC", "NCHW");
        String to = call.attributes().choice("dst_layout", "NHWC", "NCHW");
        if (call.value(0).type().shape().rank() != 4) {
            throw new IllegalArgumentException("data must have rank 4");
        }
        return from.equals(to)
                ? call.value(0)
                : transposed(
                        call,
                        call.value(0),
                        from.equals("NHWC") ? Layouts.TO_CHANNELS_FIRST : Layouts.TO_CHANNELS_LAST);
    }

    private static Value transposed(CallSite call, Value data, List<Integer> axes) {
        Shape from = data.type().shape();
        TensorType type =
                new TensorType(Layouts.permuted(from, axes), data.type().dtype());
        if (data.isWhole() && data.channelsLast() && axes.equals(Layouts.TO_CHANNELS_LAST)) {
            return Value.plain(data.arg(), type);
        }
        Arg plain = Layouts.plain(call, data);
        if (plain instanceof Constant constant) {
            return Value.plain(Layouts.transpose(call, constant, axes), type);
        }
        List<Integer> moving = axes.stream().filter(axis -> from.dim(axis) > 1).toList();
        if (moving.equals(moving.stream().sorted().toList())) {
            return Value.plain(Layouts.reshape(call, plain, type.shape()), type);
        }
        if (axes.equals(Layouts.TO_CHANNELS_FIRST)) {
            return Value.channelsLast(plain, type);
        }
        return Value.plain(call.emit(new Transpose(axes), List.of(plain)), type);
    }

    /** The elements in the same order under other dimensions; NCHW data held as NHWC stays so, flattened. */
    static Value reshaped(CallSite call, Value data, Shape to) {
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
                && !Layouts.isSameOrder(from)
                && to.equals(Shape.of(from.dim(0), from.dim(1) * from.dim(2) * from.dim(3)));
        if (flattens) {
            Arg flat = Layouts.reshape(call, data.arg(), to);
            return data.with(flat, data.type()).flattenedTo(type);
        }
        Arg plain = Layouts.plain(call, data);
        if (plain instanceof Constant) {
            return Value.plain(Layouts.reshape(call, plain, to), type);
        }
        return Value.plain(call.emit(new Reshape(to), List.of(plain)), type);
    }
}
