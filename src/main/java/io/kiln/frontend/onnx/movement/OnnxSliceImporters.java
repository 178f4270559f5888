// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Operators that cut tensors into parts. */
final class OnnxSliceImporters {
    /** From these versions on, attributes are inputs. */
    private static final int SLICE_INPUTS = 10;

    private static final int SPLIT_INPUT = 13;

    static final List<OnnxRegistration> ALL = List.of(
            onnx("Slice", OnnxSliceImporters::slice),
            onnx("Split", OnnxSliceImporters::split),
            onnx("Compress", OnnxSliceImporters::compress),
            onnx("CenterCropPad", 18, OnnxSliceImporters::centre));

    private OnnxSliceImporters() {}

    private static void slice(NodeContext node) {
        boolean isInput = node.version() >= SLICE_INPUTS;
        List<Long> starts =
                isInput ? node.integers(1, "starts") : node.attributes().requiredWholes("starts");
        List<Long> ends = isInput ? node.integers(2, "ends") : node.attributes().requiredWholes("ends");
        Optional<List<Long>> axes = isInput
                ? node.optional(3).map(a -> node.integers(3, "axes"))
                : node.attributes().wholes("axes");
        List<Long> steps = isInput && node.has(4)
                ? node.integers(4, "steps")
                : starts.stream().map(s -> 1L).toList();
        List<Long> stated =
                axes.orElse(LongStream.range(0, starts.size()).boxed().toList());
        node.require(
                ends.size() == starts.size() && stated.size() == starts.size() && steps.size() == starts.size(),
                "its starts, ends, axes and steps are " + starts + ", " + ends + ", " + stated + ", " + steps,
                "lists of one length");
        Shape shape = node.shape(0);
        List<Integer> begin = new ArrayList<>(shape.dims().stream().map(d -> 0).toList());
        List<Integer> end = new ArrayList<>(shape.dims());
        List<Integer> strides =
                new ArrayList<>(shape.dims().stream().map(d -> 1).toList());
        node.axes(stated, shape.rank());
        for (int i = 0; i < starts.size(); i++) {
            int axis = node.axis(stated.get(i), shape.rank());
            long step = steps.get(i);
            node.require(step != 0 && Math.abs(step) < Integer.MAX_VALUE, "a step is " + step, "a number except 0");
            begin.set(axis, index(starts.get(i), shape.dim(axis), step));
            end.set(axis, index(ends.get(i), shape.dim(axis), step));
            strides.set(axis, (int) step);
        }
        StridedSlice slice = new StridedSlice(begin, end, strides);
        node.finish(
                strides.stream().allMatch(s -> s == 1)
                                && slice.infer(List.of(node.type(node.arg(0))))
                                        .shape()
                                        .equals(shape)
                        ? node.arg(0)
                        : node.emit(slice, node.arg(0)));
    }

    /** An index as the IR wants it: from the start, or, before index 0, {@code -size - 1}. */
    private static int index(long stated, int size, long step) {
        long index = stated < 0 ? stated + size : stated;
        if (step > 0) {
            return (int) Math.max(0, Math.min(index, size));
        }
        return index < 0 ? -size - 1 : (int) Math.min(index, size - 1);
    }

    private static void split(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        int axis = node.axis(node.attributes().whole("axis", 0), shape.rank());
        List<Long> sizes = sizes(node, shape.dim(axis));
        long sum = sizes.stream().mapToLong(s -> s).sum();
        node.require(
                sum == shape.dim(axis)
                        && sizes.size() == node.outputs()
                        && sizes.stream().allMatch(s -> s >= 0),
                "its parts are " + sizes,
                node.outputs() + " sizes that sum up to " + shape.dim(axis));
        int begin = 0;
        for (int i = 0; i < sizes.size(); i++) {
            int end = begin + sizes.get(i).intValue();
            node.finish(i, e.slice(node.arg(0), axis, begin, end), node.element(0));
            begin = end;
        }
    }

    /** Parts of one size, the last one smaller if need be, unless the file states sizes. */
    private static List<Long> sizes(NodeContext node, int size) {
        if (node.version() >= SPLIT_INPUT && node.has(1)) {
            return node.integers(1, "split");
        }
        Optional<List<Long>> stated = node.attributes().wholes("split");
        if (stated.isPresent()) {
            return stated.orElseThrow();
        }
        long parts = node.attributes().whole("num_outputs", node.outputs());
        node.require(parts == node.outputs() && parts > 0, "its num_outputs is " + parts, "" + node.outputs());
        long part = (size + parts - 1) / parts;
        return LongStream.range(0, parts)
                .map(i -> Math.max(0, Math.min(part, size - i * part)))
                .boxed()
                .toList();
    }

    /** Cut, or padded with zeros, at both ends of each axis; an odd element more is at the end. */
    private static void centre(NodeContext node) {
        Expressions e = new Expressions(node);
        int rank = node.shape(0).rank();
        List<Long> sizes = node.integers(1, "shape");
        List<Long> axes = node.attributes()
                .wholes("axes")
                .orElse(LongStream.range(0, rank).boxed().toList());
        node.require(
                axes.size() == sizes.size() && sizes.stream().allMatch(size -> size > 0 && size <= Integer.MAX_VALUE),
                "its shape is " + sizes + " along the axes " + axes,
                "a size above 0 for each axis");
        Arg value = node.arg(0);
        for (int i = 0; i < axes.size(); i++) {
            int axis = node.axis(axes.get(i), rank);
            int size = sizes.get(i).intValue();
            int more = size - e.shape(value).dim(axis);
            if (more <= 0) {
                value = e.slice(value, axis, -more / 2, -more / 2 + size);
            } else {
                Arg begin = zeros(e, value, axis, more / 2);
                value = e.concatenate(List.of(begin, value, zeros(e, value, axis, more - more / 2)), axis);
            }
        }
        node.finish(value);
    }

    private static Arg zeros(Expressions e, Arg like, int axis, int size) {
        List<Integer> dims = new ArrayList<>(e.shape(like).dims());
        dims.set(axis, size);
        return e.broadcast(e.number(0, e.dtype(like)), new Shape(dims));
    }

    /** Elements where a condition that is known at build time is true. */
    private static void compress(NodeContext node) {
        Expressions e = new Expressions(node);
        List<Long> condition = node.integers(1, "condition");
        Arg data = node.arg(0);
        int axis = 0;
        if (node.attributes().has("axis")) {
            axis = node.axis(node.attributes().whole("axis", 0), node.shape(0).rank());
        } else {
            data = e.reshape(data, List.of(Math.toIntExact(node.shape(0).elements())));
        }
        int size = e.shape(data).dim(axis);
        List<Integer> kept = IntStream.range(0, Math.min(size, condition.size()))
                .filter(i -> condition.get(i) != 0)
                .boxed()
                .toList();
        node.finish(e.take(data, e.ints(kept, Shape.of(kept.size())), axis));
    }
}
