// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.movement.BilinearImage.ResizePlan;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.operator.OnnxRegistration.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.reduce.TflCumsum;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Operators that move elements: the table of all; and those that join or permute, change or compute shapes, enlarge tensors, exchange blocks
 * of pixels and channels, or run along an axis as along a sequence.
 */
public final class OnnxMovementImporters {
    private static final int PAD_INPUTS = 11;
    private static final int TILE_INPUT = 6;
    private static final int MOST = 1 << 24;
    /** From these versions on, attributes are inputs. */
    private static final int RESHAPE_INPUT = 5;

    private static final int AXES_INPUT = 13;
    private static final List<OnnxRegistration> OWN = List.of(
            onnx("Concat", new ConcatImporter()),
            onnx("Transpose", new TransposeImporter()),
            onnx("Pad", OnnxMovementImporters::pad),
            onnx("Expand", OnnxMovementImporters::expand),
            onnx("Tile", OnnxMovementImporters::tile),
            onnx("CumSum", OnnxMovementImporters::cumSum),
            onnx("CumProd", 26, OnnxMovementImporters::cumProd),
            onnx("ReverseSequence", OnnxMovementImporters::reverseSequence),
            onnx("Reshape", OnnxMovementImporters::reshape),
            onnx("Flatten", OnnxMovementImporters::flatten),
            onnx("Squeeze", OnnxMovementImporters::squeeze),
            onnx("Unsqueeze", OnnxMovementImporters::unsqueeze),
            onnx("Shape", OnnxMovementImporters::shape),
            onnx("Size", OnnxMovementImporters::size),
            onnx("DepthToSpace", OnnxMovementImporters::depthToSpace),
            onnx("SpaceToDepth", OnnxMovementImporters::spaceToDepth));

    public static final List<OnnxRegistration> ALL = Stream.of(
                    OWN, OnnxConstantImporters.ALL, IndexImporters.ALL, ResizePlan.ALL)
            .flatMap(List::stream)
            .toList();

    private OnnxMovementImporters() {}

    /** {@code Concat}; before version 4 the axis is 1 unless stated. */
    private static final class ConcatImporter implements OnnxImporter {
        private static final int AXIS_REQUIRED = 4;

        @Override
        public void emit(NodeContext node) {
            List<Arg> parts =
                    IntStream.range(0, node.inputs()).mapToObj(node::arg).toList();
            long stated = node.version() >= AXIS_REQUIRED ? node.requiredWhole("axis") : node.whole("axis", 1);
            node.finish(node.concatenate(parts, node.axis(stated, node.shape(0).rank())));
        }
    }

    /** {@code Transpose}; without a permutation it reverses the dimensions. */
    private static final class TransposeImporter implements OnnxImporter {
        @Override
        public void emit(NodeContext node) {
            int rank = node.shape(0).rank();
            List<Long> stated = node.wholes("perm")
                    .orElse(LongStream.range(0, rank)
                            .mapToObj(i -> rank - 1 - i)
                            .toList());
            node.require(
                    stated.stream()
                            .sorted()
                            .toList()
                            .equals(LongStream.range(0, rank).boxed().toList()),
                    "its perm is " + stated,
                    "every axis of " + node.shape(0).text() + " once");
            node.finish(node.transpose(
                    node.arg(0), stated.stream().map(Long::intValue).toList()));
        }
    }

    private static void depthToSpace(NodeContext node) {
        Shape s = node.shape(0);
        int block = block(node, s);
        node.require(s.dim(1) % (block * block) == 0, "it has " + s.dim(1) + " channels", "a multiple of blocksize^2");
        int depth = s.dim(1) / (block * block);
        String mode = node.text("mode", "DCR");
        node.require(mode.equals("DCR") || mode.equals("CRD"), "its mode is `" + mode + "`", "DCR or CRD");
        boolean isDepthFirst = mode.equals("CRD");
        Arg parted = node.reshape(
                node.arg(0),
                isDepthFirst
                        ? List.of(s.dim(0), depth, block, block, s.dim(2), s.dim(3))
                        : List.of(s.dim(0), block, block, depth, s.dim(2), s.dim(3)));
        Arg moved = node.transpose(parted, isDepthFirst ? List.of(0, 1, 4, 2, 5, 3) : List.of(0, 3, 4, 1, 5, 2));
        node.finish(node.reshape(moved, List.of(s.dim(0), depth, s.dim(2) * block, s.dim(3) * block)));
    }

    private static void spaceToDepth(NodeContext node) {
        Shape s = node.shape(0);
        int block = block(node, s);
        node.require(
                s.dim(2) % block == 0 && s.dim(3) % block == 0, "its data is " + s.text(), "multiples of blocksize");
        int height = s.dim(2) / block;
        int width = s.dim(3) / block;
        Arg parted = node.reshape(node.arg(0), List.of(s.dim(0), s.dim(1), height, block, width, block));
        Arg moved = node.transpose(parted, List.of(0, 3, 5, 1, 2, 4));
        node.finish(node.reshape(moved, List.of(s.dim(0), s.dim(1) * block * block, height, width)));
    }

    private static int block(NodeContext node, Shape shape) {
        long block = node.requiredWhole("blocksize");
        node.require(shape.rank() == 4, "its data is " + shape.text(), "an image");
        node.require(block > 0 && block < (1 << 12), "its blocksize is " + block, "a number above 0");
        return (int) block;
    }

    private static void reshape(NodeContext node) {
        List<Long> stated = node.version() >= RESHAPE_INPUT ? node.integers(1, "shape") : node.requiredWholes("shape");
        boolean keepsZero = node.truth("allowzero", false);
        Shape data = node.shape(0);
        List<Integer> dims = new ArrayList<>();
        long known = 1;
        int open = -1;
        for (int i = 0; i < stated.size(); i++) {
            long dim = stated.get(i);
            boolean copies = dim == 0 && !keepsZero;
            boolean fits =
                    dim >= -1 && dim <= Integer.MAX_VALUE && !(dim == -1 && open >= 0) && !(copies && i >= data.rank());
            node.require(
                    fits, "its shape is " + stated, "sizes, at most one -1, and 0 for a dimension of " + data.text());
            open = dim == -1 ? i : open;
            dims.add(dim == -1 ? 1 : copies ? data.dim(i) : (int) dim);
            known = Math.min(known * dims.get(i), Integer.MAX_VALUE);
        }
        if (open >= 0) {
            node.require(known > 0, "its shape " + stated + " leaves a dimension open beside one of 0", "all sizes");
            dims.set(open, Math.toIntExact(data.elements() / known));
        }
        node.finish(node.reshape(node.arg(0), dims));
    }

    private static void flatten(NodeContext node) {
        Shape shape = node.shape(0);
        long stated = node.whole("axis", 1);
        int axis = stated == shape.rank() ? shape.rank() : node.axis(stated, shape.rank());
        int rows = shape.dims().subList(0, axis).stream().reduce(1, (a, b) -> a * b);
        int columns = shape.dims().subList(axis, shape.rank()).stream().reduce(1, (a, b) -> a * b);
        node.finish(node.reshape(node.arg(0), List.of(rows, columns)));
    }

    private static void squeeze(NodeContext node) {
        Shape shape = node.shape(0);
        List<Integer> axes = hasAxes(node)
                ? node.axes(axes(node), shape.rank())
                : IntStream.range(0, shape.rank())
                        .filter(i -> shape.dim(i) == 1)
                        .boxed()
                        .toList();
        node.require(
                axes.stream().allMatch(axis -> shape.dim(axis) == 1),
                "it removes the axes " + axes + " of " + shape.text(),
                "axes of size 1");
        List<Integer> dims = new ArrayList<>();
        IntStream.range(0, shape.rank()).filter(i -> !axes.contains(i)).forEach(i -> dims.add(shape.dim(i)));
        node.finish(node.reshape(node.arg(0), dims));
    }

    private static void unsqueeze(NodeContext node) {
        List<Integer> dims = new ArrayList<>(node.shape(0).dims());
        List<Long> stated = axes(node);
        for (int axis : node.axes(stated, dims.size() + stated.size())) {
            dims.add(axis, 1);
        }
        node.finish(node.reshape(node.arg(0), dims));
    }

    private static boolean hasAxes(NodeContext node) {
        return node.version() >= AXES_INPUT ? node.has(1) : node.has("axes");
    }

    private static List<Long> axes(NodeContext node) {
        return node.version() >= AXES_INPUT ? node.integers(1, "axes") : node.requiredWholes("axes");
    }

    private static void shape(NodeContext node) {
        Shape shape = node.shape(0);
        int begin = index(node.whole("start", 0), shape.rank());
        int end = index(node.whole("end", shape.rank()), shape.rank());
        List<Long> dims = shape.dims().subList(begin, Math.max(begin, end)).stream()
                .map(Long::valueOf)
                .toList();
        node.finish(0, node.longs(dims, Shape.of(dims.size())), ElementType.INT64);
    }

    private static int index(long stated, int rank) {
        return (int) Math.max(0, Math.min(stated < 0 ? stated + rank : stated, rank));
    }

    private static void size(NodeContext node) {
        List<Long> elements = List.of(node.shape(0).elements());
        node.finish(0, node.longs(elements, Shape.scalar()), ElementType.INT64);
    }

    private static void cumSum(NodeContext node) {
        int axis = node.axis(node.integers(1, "axis").get(0), node.shape(0).rank());
        TflCumsum sum = new TflCumsum(axis, node.truth("exclusive", false), node.truth("reverse", false));
        node.finish(node.emit(sum, node.arg(0), Constant.scalar(0)));
    }

    /**
     * Products of all elements up to each, or before it. After each step a product has twice as many factors, so that few operators compute
     * it; the order of the factors is not that of the elements.
     */
    private static void cumProd(NodeContext node) {
        Shape shape = node.shape(0);
        int axis = node.axis(node.integers(1, "axis").get(0), shape.rank());
        boolean isReverse = node.truth("reverse", false);
        DType dtype = node.dtype(node.arg(0));
        Arg product = node.cast(node.arg(0), dtype.isWideUnsigned() ? DType.INT64 : dtype);
        if (node.truth("exclusive", false)) {
            product = moved(node, product, axis, 1, isReverse);
        }
        for (int step = 1; step < shape.dim(axis); step *= 2) {
            product = node.multiply(product, moved(node, product, axis, step, isReverse));
        }
        node.finish(node.cast(product, dtype));
    }

    /** The elements some places further on along an axis, or back, behind ones. */
    private static Arg moved(Formulas e, Arg data, int axis, int places, boolean isBack) {
        Shape shape = e.shape(data);
        Arg ones = e.broadcast(e.number(1, e.dtype(data)), shape.with(axis, places));
        Arg kept = isBack
                ? e.slice(data, axis, places, shape.dim(axis))
                : e.slice(data, axis, 0, shape.dim(axis) - places);
        return e.concatenate(isBack ? List.of(kept, ones) : List.of(ones, kept), axis);
    }

    /** For each batch, the first steps in reverse: step t of length n comes from n - 1 - t, others stay. */
    private static void reverseSequence(NodeContext node) {
        Shape shape = node.shape(0);
        long time = node.whole("time_axis", 0);
        long batch = node.whole("batch_axis", 1);
        node.require(
                shape.rank() >= 2 && time + batch == 1 && time * batch == 0,
                "its time_axis and batch_axis are " + time + " and " + batch,
                "0 and 1, or 1 and 0");
        int axis = (int) time;
        Arg step = node.places(Formulas.along(2, axis, shape.dim(axis)), i -> i);
        Arg lengths = node.reshape(
                node.cast(node.arg(1), DType.INT32), axis == 0 ? List.of(1, shape.dim(1)) : List.of(shape.dim(0), 1));
        Arg isInside = node.less(step, lengths);
        Arg source = node.where(isInside, node.add(node.subtract(lengths, step), -1), step);
        List<Integer> dims = new ArrayList<>(node.shape(source).dims());
        dims.addAll(Collections.nCopies(shape.rank() - 2, 1));
        Arg indices = node.broadcast(node.reshape(source, dims), shape);
        Arg flat = IndexImporters.ofElements(node, indices, shape, axis);
        node.finish(node.take(IndexImporters.flat(node, node.arg(0)), flat, 0));
    }

    private static void pad(NodeContext node) {
        int rank = node.shape(0).rank();
        List<Long> pads = node.version() >= PAD_INPUTS
                ? node.integers(1, "pads")
                : node.requiredWholes(node.has("paddings") ? "paddings" : "pads");
        List<Integer> axes = node.version() >= PAD_INPUTS && node.has(3)
                ? node.integers(3, "axes").stream().map(a -> node.axis(a, rank)).toList()
                : IntStream.range(0, rank).boxed().toList();
        node.require(
                pads.size() == 2 * axes.size() && pads.stream().allMatch(p -> Math.abs(p) < MOST),
                "its pads are " + pads,
                "two numbers for each of " + axes.size() + " axes");
        List<Integer> before = new ArrayList<>(Collections.nCopies(rank, 0));
        List<Integer> after = new ArrayList<>(Collections.nCopies(rank, 0));
        Arg data = node.arg(0);
        for (int i = 0; i < axes.size(); i++) {
            int axis = axes.get(i);
            int first = pads.get(i).intValue();
            int last = pads.get(axes.size() + i).intValue();
            int size = node.shape(data).dim(axis);
            node.require((long) size + first + last > 0, "its pads " + pads + " remove everything", "something left");
            data = node.slice(data, axis, Math.max(0, -first), size + Math.min(0, last));
            before.set(axis, Math.max(0, first));
            after.set(axis, Math.max(0, last));
        }
        node.finish(filled(node, data, before, after));
    }

    private static Arg filled(NodeContext node, Arg data, List<Integer> before, List<Integer> after) {
        String mode = node.text("mode", "constant");
        if (!mode.equals("constant")) {
            return copied(node, data, before, after, mode);
        }
        if (Collections.max(before) == 0 && Collections.max(after) == 0) {
            return data;
        }
        DType dtype = node.dtype(data);
        boolean isInput = node.version() >= PAD_INPUTS && node.has(2);
        Pad pad = new Pad(before, after);
        if (isInput && !(node.arg(2) instanceof Constant)) {
            return filledAtRun(node, data, pad);
        }
        Arg value = isInput
                ? node.reshape(node.constant(2, "constant_value"), List.of())
                : node.number(node.real("value", 0), dtype);
        return node.emit(pad, data, value);
    }

    /** The value around the data is computed when the model runs: it takes the place of zeros. */
    private static Arg filledAtRun(NodeContext node, Arg data, Pad pad) {
        Arg ones = node.broadcast(node.number(1, DType.INT8), node.shape(data));
        Arg isData = node.cast(node.emit(pad, ones, node.number(0, DType.INT8)), DType.BOOL);
        Arg padded = node.emit(pad, data, node.number(0, node.dtype(data)));
        return node.where(isData, padded, node.reshape(node.arg(2), List.of()));
    }

    /** Each axis by the indices of the elements that stand in for those outside. */
    private static Arg copied(NodeContext node, Arg data, List<Integer> before, List<Integer> after, String mode) {
        Arg value = data;
        for (int axis = 0; axis < before.size(); axis++) {
            int size = node.shape(data).dim(axis);
            if (before.get(axis) + after.get(axis) > 0) {
                int begin = before.get(axis);
                Shape indices = Shape.of(begin + size + after.get(axis));
                value = node.take(value, node.places(indices, i -> source(node, mode, i - begin, size)), axis);
            }
        }
        return value;
    }

    private static int source(NodeContext node, String mode, int index, int size) {
        return switch (mode) {
            case "edge" -> Math.max(0, Math.min(index, size - 1));
            case "wrap" -> Math.floorMod(index, size);
            case "reflect" -> {
                int period = Math.max(1, 2 * (size - 1));
                int folded = Math.floorMod(index, period);
                yield Math.min(folded, period - folded) % size;
            }
            default -> throw node.failure("its mode is `" + mode + "`", "constant, edge, reflect or wrap");
        };
    }

    private static void expand(NodeContext node) {
        List<Long> stated = node.integers(1, "shape");
        node.require(
                stated.stream().allMatch(d -> d >= 0 && d <= Integer.MAX_VALUE), "its shape is " + stated, "sizes");
        Shape shape = node.broadcastShape(
                node.shape(0), new Shape(stated.stream().map(Long::intValue).toList()));
        node.finish(node.broadcast(node.arg(0), shape));
    }

    /** The data repeated along each axis: broadcast along a new axis before it. Version 1 repeats along one axis. */
    private static void tile(NodeContext node) {
        Shape shape = node.shape(0);
        List<Long> repeats;
        if (node.version() >= TILE_INPUT) {
            repeats = node.integers(1, "repeats");
        } else {
            repeats = new ArrayList<>(Collections.nCopies(shape.rank(), 1L));
            repeats.set(
                    node.axis(node.integers(2, "axis").get(0), shape.rank()),
                    node.integers(1, "tiles").get(0));
        }
        node.require(
                repeats.size() == shape.rank() && repeats.stream().allMatch(r -> r >= 0 && r < MOST),
                "its repeats are " + repeats,
                "a number for each axis of " + shape.text());
        Arg value = node.arg(0);
        for (int axis = 0; axis < shape.rank(); axis++) {
            value = repeated(node, value, axis, repeats.get(axis).intValue());
        }
        node.finish(value);
    }

    private static Arg repeated(Formulas e, Arg data, int axis, int count) {
        if (count == 1) {
            return data;
        }
        Shape shape = e.shape(data);
        Shape parted = shape.inserted(axis);
        Shape joined = shape.with(axis, (int) Math.min(Integer.MAX_VALUE, (long) shape.dim(axis) * count));
        return e.reshape(e.broadcast(e.reshape(data, parted), parted.with(axis, count)), joined);
    }
}
