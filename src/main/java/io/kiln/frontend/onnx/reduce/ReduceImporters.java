// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.reduce;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.movement.IndexImporters;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.operator.OnnxRegistration.OnnxImporter;
import io.kiln.frontend.onnx.operator.UnsignedOrder;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.op.reduce.Topk;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Reductions along axes, places of the largest and smallest elements, and the largest ones; formulas are those of ONNX's operator pages. */
public final class ReduceImporters {
    private static final int MOST_TERMS = 1024;

    private static final int K_INPUT = 10;

    private static final int SUM_AXES_INPUT = 13;
    private static final int AXES_INPUT = 18;

    public static final List<OnnxRegistration> ALL = List.of(
            onnx("ReduceSum", new ReduceImporter(SUM_AXES_INPUT, ReduceImporters::sum)),
            reduce("ReduceMean", (e, x, axes) -> e.reduce(Reduce.Kind.MEAN, x, axes)),
            reduce("ReduceMax", (e, x, axes) -> reduced(e, Reduce.Kind.MAX, Binary.Kind.MAXIMUM, x, axes)),
            reduce("ReduceMin", (e, x, axes) -> reduced(e, Reduce.Kind.MIN, Binary.Kind.MINIMUM, x, axes)),
            reduce("ReduceProd", (e, x, axes) -> halved(e, Binary.Kind.MULTIPLY, x, axes)),
            reduce("ReduceL1", (e, x, axes) -> sum(e, e.abs(x), axes)),
            reduce("ReduceL2", (e, x, axes) -> e.sqrt(sum(e, e.multiply(x, x), axes))),
            reduce("ReduceSumSquare", (e, x, axes) -> sum(e, e.multiply(x, x), axes)),
            reduce("ReduceLogSum", (e, x, axes) -> e.log(sum(e, x, axes))),
            reduce("ReduceLogSumExp", ReduceImporters::logSumExp),
            onnx("ArgMax", new ArgImporter(true)),
            onnx("ArgMin", new ArgImporter(false)),
            onnx("TopK", ReduceImporters::topk));

    private ReduceImporters() {}

    private static OnnxRegistration reduce(String name, ReduceImporter.Formula formula) {
        return onnx(name, new ReduceImporter(AXES_INPUT, formula));
    }

    private static Arg sum(Formulas e, Arg data, List<Integer> axes) {
        return reduced(e, Reduce.Kind.SUM, Binary.Kind.ADD, data, axes);
    }

    /** Without overflow: {@code max + log(sum(exp(x - max)))}; an infinite maximum is not subtracted. */
    private static Arg logSumExp(Formulas e, Arg data, List<Integer> axes) {
        Arg most = e.reduce(Reduce.Kind.MAX, data, axes);
        Arg isFinite = e.binary(Binary.Kind.LESS_EQUAL, e.abs(most), e.real(Float.MAX_VALUE));
        Arg max = e.where(isFinite, most, e.real(0));
        Arg sum = sum(e, e.exp(e.subtract(data, max)), axes);
        return e.add(max, e.log(sum));
    }

    /**
     * Index of the largest or smallest element along an axis, the first of equal ones or the last.
     *
     * @param largest whether it is the largest
     */
    private record ArgImporter(boolean largest) implements OnnxImporter {
        @Override
        public void emit(NodeContext node) {
            Shape shape = node.shape(0);
            int axis = node.axis(node.whole("axis", 0), shape.rank());
            int size = shape.dim(axis);
            Arg data = UnsignedOrder.ordered(node, node.arg(0));
            Arg index;
            if (node.truth("select_last_index", false)) {
                Arg reversed = node.emit(StridedSlice.along(shape, axis, size - 1, -size - 1, -1), data);
                Arg fromEnd = node.emit(new ArgReduce(largest, axis), reversed);
                index = node.subtract(node.number(size - 1, DType.INT32), fromEnd);
            } else {
                index = node.emit(new ArgReduce(largest, axis), data);
            }
            List<Integer> dims = new ArrayList<>(shape.dims());
            if (node.truth("keepdims", true)) {
                dims.set(axis, 1);
            } else {
                dims.remove(axis);
            }
            node.finish(0, node.cast(node.reshape(index, dims), DType.INT64), ElementType.INT64);
        }
    }

    /**
     * A reduction along axes; without axes along all.
     *
     * @param axesInput version from which on the axes are an input
     */
    private record ReduceImporter(int axesInput, Formula formula) implements OnnxImporter {
        /** A reduction that keeps the dimensions, as 1. */
        interface Formula {
            Arg apply(Formulas e, Arg data, List<Integer> axes);
        }

        @Override
        public void emit(NodeContext node) {
            Shape shape = node.shape(0);
            Optional<List<Long>> stated = node.version() >= axesInput
                    ? node.optional(1).map(axes -> node.integers(1, "axes"))
                    : node.wholes("axes");
            boolean isNone = stated.isEmpty() || stated.orElseThrow().isEmpty();
            if (isNone && node.truth("noop_with_empty_axes", false)) {
                node.finish(node.arg(0));
                return;
            }
            List<Integer> axes = isNone
                    ? IntStream.range(0, shape.rank()).boxed().toList()
                    : node.axes(stated.orElseThrow(), shape.rank());
            Arg result = axes.isEmpty() ? node.arg(0) : formula.apply(node, node.arg(0), axes);
            if (!node.truth("keepdims", true)) {
                List<Integer> dims = new ArrayList<>();
                IntStream.range(0, shape.rank()).filter(i -> !axes.contains(i)).forEach(i -> dims.add(shape.dim(i)));
                result = node.reshape(result, dims);
            }
            node.finish(result);
        }
    }

    /** {@code TopK}: the largest or smallest elements along an axis, in order, and their indices; how many is known at build time. */
    private static void topk(NodeContext node) {
        Shape shape = node.shape(0);
        int axis = node.axis(node.whole("axis", -1), shape.rank());
        long k = node.version() >= K_INPUT ? node.integers(1, "k").get(0) : node.whole("k", 0);
        node.require(k >= 1 && k <= shape.dim(axis), "its k is " + k, "1 to " + shape.dim(axis));
        boolean isAscend = !node.truth("largest", true);
        List<Integer> order = swapped(shape.rank(), axis);
        Arg data = node.transpose(node.arg(0), order);
        Arg indices = node.emit(new Topk((int) k, isAscend), UnsignedOrder.ordered(node, data));
        Arg places = IndexImporters.ofElements(node, indices, node.shape(data), shape.rank() - 1);
        Arg values = node.take(IndexImporters.flat(node, data), places, 0);
        node.finish(0, node.transpose(values, order));
        node.finish(1, node.cast(node.transpose(indices, order), DType.INT64), ElementType.INT64);
    }

    /** All dimensions, an axis and the last one exchanged. */
    private static List<Integer> swapped(int rank, int axis) {
        List<Integer> order = new ArrayList<>(IntStream.range(0, rank).boxed().toList());
        order.set(axis, rank - 1);
        order.set(rank - 1, axis);
        return order;
    }

    /** A reduction by the IR's operator where it takes the type; dimensions stay, as 1. */
    private static Arg reduced(Formulas e, Reduce.Kind kind, Binary.Kind combine, Arg data, List<Integer> axes) {
        DType dtype = e.dtype(data);
        boolean isOrder = kind == Reduce.Kind.MAX || kind == Reduce.Kind.MIN;
        if (dtype.isWideUnsigned()) {
            Arg wide = isOrder ? UnsignedOrder.ordered(e, data) : e.cast(data, DType.INT64);
            Arg result = reduced(e, kind, combine, wide, axes);
            return isOrder ? UnsignedOrder.original(e, result, dtype) : e.cast(result, dtype);
        }
        boolean isOwn = dtype.isFloat() || dtype == DType.INT32 || isOrder;
        if (!isOwn) {
            return halved(e, combine, data, axes);
        }
        return kind == Reduce.Kind.SUM ? sumByAxis(e, data, axes) : e.reduce(kind, data, axes);
    }

    /** A sum; one of very many floats is computed axis by axis, so that errors stay small. Dimensions stay, as 1. */
    public static Arg sumByAxis(Formulas e, Arg data, List<Integer> axes) {
        long terms = axes.stream().mapToLong(e.shape(data)::dim).reduce(1, (a, b) -> a * b);
        if (terms <= MOST_TERMS || axes.size() == 1) {
            return e.reduce(Reduce.Kind.SUM, data, axes);
        }
        Arg value = data;
        for (int axis : axes) {
            value = e.reduce(Reduce.Kind.SUM, value, List.of(axis));
        }
        return value;
    }

    /** A reduction for which the IR has no operator: the halves of each axis are combined until one element is left. Dimensions stay, as 1. */
    private static Arg halved(Formulas e, Binary.Kind combine, Arg data, List<Integer> axes) {
        Arg value = data;
        for (int axis : axes) {
            while (e.shape(value).dim(axis) > 1) {
                value = halved(e, combine, value, axis);
            }
        }
        return value;
    }

    private static Arg halved(Formulas e, Binary.Kind combine, Arg data, int axis) {
        int size = e.shape(data).dim(axis);
        int half = size / 2;
        Arg combined = e.binary(combine, e.slice(data, axis, 0, half), e.slice(data, axis, half, 2 * half));
        return size == 2 * half
                ? combined
                : e.concatenate(List.of(combined, e.slice(data, axis, 2 * half, size)), axis);
    }
}
