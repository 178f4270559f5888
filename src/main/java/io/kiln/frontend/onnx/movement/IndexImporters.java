// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.operator.OnnxRegistration.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.op.movement.Updates.ScatterNd;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Operators that select elements, replace those that are selected, or cut tensors into parts. Their indices may be computed when the model runs;
 * they become indices into a tensor's elements in their order.
 */
public final class IndexImporters {
    /** From these versions on, attributes are inputs. */
    private static final int SLICE_INPUTS = 10;

    private static final int SPLIT_INPUT = 13;
    static final List<OnnxRegistration> ALL = List.of(
            onnx("Slice", IndexImporters::slice),
            onnx("Split", IndexImporters::split),
            onnx("Compress", IndexImporters::compress),
            onnx("CenterCropPad", 18, IndexImporters::centre),
            onnx("Scatter", IndexImporters::elements),
            onnx("ScatterElements", IndexImporters::elements),
            onnx("ScatterND", IndexImporters::slices),
            onnx("TensorScatter", 24, IndexImporters::cache),
            onnx("Gather", IndexImporters::gather),
            onnx("GatherElements", IndexImporters::gatherElements),
            onnx("GatherND", IndexImporters::gatherNd),
            onnx("GridSample", new GridSampleImporter()));

    private IndexImporters() {}

    /**
     * Refuses constant indices that lie outside of the data; generated code would read beyond it.
     *
     * @param sizes of the axes that the indices count along, in turn
     */
    private static void requireWithin(NodeContext node, int input, List<Integer> sizes) {
        if (!(node.arg(input) instanceof Constant indices)) {
            return;
        }
        for (int i = 0; i < indices.elements(); i++) {
            int size = sizes.get(i % sizes.size());
            node.require(
                    indices.integer(i) >= -size && indices.integer(i) < size,
                    "its index " + indices.integer(i) + " lies outside of its data "
                            + node.shape(0).text(),
                    -size + " to " + (size - 1));
        }
    }

    /** Indices as int32, negative ones counted from the end. */
    private static Arg counted(Formulas e, Arg indices, int size) {
        Arg index = e.indices(indices);
        Arg fromEnd = e.add(index, size);
        Arg zero = e.number(0, DType.INT32);
        return e.where(e.less(index, zero), fromEnd, index);
    }

    /** The tensor as a vector. */
    public static Arg flat(Formulas e, Arg data) {
        return e.reshape(data, List.of(Math.toIntExact(e.shape(data).elements())));
    }

    /** For each element of the indices, the place of the element of the data that differs from it along one axis only. */
    public static Arg ofElements(Formulas e, Arg indices, Shape data, int axis) {
        Shape shape = e.shape(indices);
        Arg flat = e.multiply(counted(e, indices, data.dim(axis)), stride(data, axis));
        for (int i = 0; i < data.rank(); i++) {
            if (i != axis) {
                int stride = stride(data, i);
                flat = e.add(flat, e.places(Formulas.along(data.rank(), i, shape.dim(i)), k -> k * stride));
            }
        }
        return flat;
    }

    /** The places that tuples along the last axis stand for, among the elements of some dimensions. */
    private static Arg ofTuples(Formulas e, Arg indices, List<Integer> dims) {
        Shape shape = e.shape(indices);
        Shape sizes = new Shape(dims);
        Arg index = e.indices(indices);
        Arg zero = e.number(0, DType.INT32);
        Arg fromEnd = e.add(index, e.ints(dims, Shape.of(dims.size())));
        Arg counted = e.where(e.less(index, zero), fromEnd, index);
        List<Integer> strides = new ArrayList<>();
        for (int i = 0; i < dims.size(); i++) {
            strides.add(stride(sizes, i));
        }
        Arg places = e.multiply(counted, e.ints(strides, Shape.of(strides.size())));
        Arg sum = e.reduce(Reduce.Kind.SUM, places, List.of(shape.rank() - 1));
        return e.reshape(sum, shape.dims().subList(0, shape.rank() - 1));
    }

    private static int stride(Shape shape, int axis) {
        return shape.dims().subList(axis + 1, shape.rank()).stream().reduce(1, (a, b) -> a * b);
    }

    private static void gather(NodeContext node) {
        int axis = node.axis(node.whole("axis", 0), node.shape(0).rank());
        requireWithin(node, 1, List.of(node.shape(0).dim(axis)));
        Arg indices = counted(node, node.arg(1), node.shape(0).dim(axis));
        node.finish(node.take(node.arg(0), indices, axis));
    }

    private static void gatherElements(NodeContext node) {
        Shape data = node.shape(0);
        int axis = node.axis(node.whole("axis", 0), data.rank());
        requireWithin(node, 1, List.of(data.dim(axis)));
        Arg indices = ofElements(node, node.arg(1), data, axis);
        node.finish(node.take(flat(node, node.arg(0)), indices, 0));
    }

    private static void gatherNd(NodeContext node) {
        Shape data = node.shape(0);
        Shape indices = node.shape(1);
        int batch = (int) Math.max(0, Math.min(node.whole("batch_dims", 0), data.rank()));
        int depth = indices.dim(-1);
        node.require(
                batch + depth <= data.rank() && batch < indices.rank(),
                "its indices " + indices.text() + " do not fit its data " + data.text(),
                "at most " + (data.rank() - batch) + " indices");
        List<Integer> inner = data.dims().subList(batch, batch + depth);
        requireWithin(node, 1, inner);
        List<Integer> rest = data.dims().subList(batch + depth, data.rank());
        int slots = inner.stream().reduce(1, (a, b) -> a * b);
        List<Integer> dims = new ArrayList<>(data.dims().subList(0, batch));
        dims.add(slots);
        dims.addAll(rest);
        Arg flat = ofTuples(node, node.arg(1), inner);
        node.finish(node.emit(new Take(batch, batch), node.reshape(node.arg(0), dims), flat));
    }

    private static void elements(NodeContext node) {
        Shape data = node.shape(0);
        Shape indices = node.shape(1);
        int axis = node.axis(node.whole("axis", 0), data.rank());
        node.require(
                indices.rank() == data.rank() && indices.equals(node.shape(2)),
                "its indices " + indices.text() + " and updates "
                        + node.shape(2).text() + " do not fit its data " + data.text(),
                "indices and updates of one shape, and of the data's rank");
        for (int i = 0; i < data.rank(); i++) {
            node.require(
                    i == axis || indices.dim(i) <= data.dim(i),
                    "its indices " + indices.text() + " are larger than its data " + data.text(),
                    "at most the data's size along each other dimension");
        }
        requireWithin(node, 1, List.of(data.dim(axis)));
        scatter(node, ofElements(node, node.arg(1), data, axis), 1);
    }

    private static void slices(NodeContext node) {
        Shape data = node.shape(0);
        Shape indices = node.shape(1);
        int depth = indices.rank() == 0 ? 0 : indices.dim(-1);
        node.require(
                depth >= 1 && depth <= data.rank(),
                "its indices " + indices.text() + " do not fit its data " + data.text(),
                "1 to " + data.rank() + " indices along the last dimension");
        List<Integer> rest = data.dims().subList(depth, data.rank());
        List<Integer> expected = Stream.concat(indices.dims().subList(0, indices.rank() - 1).stream(), rest.stream())
                .toList();
        node.require(
                node.shape(2).dims().equals(expected),
                "its updates are " + node.shape(2).text(),
                new Shape(expected).text());
        requireWithin(node, 1, data.dims().subList(0, depth));
        Arg places = ofTuples(node, node.arg(1), data.dims().subList(0, depth));
        scatter(node, places, Math.toIntExact(new Shape(rest).elements()));
    }

    /** Writes rows into a cache, from an index of each batch on; a circular cache goes on at its beginning. */
    private static void cache(NodeContext node) {
        Shape data = node.shape(0);
        Shape update = node.shape(1);
        int axis = node.axis(node.whole("axis", -2), data.rank());
        String mode = node.text("mode", "linear");
        List<Integer> expected = new ArrayList<>(data.dims());
        if (update.rank() == data.rank()) {
            expected.set(axis, Math.min(update.dim(axis), data.dim(axis)));
        }
        node.require(
                axis > 0
                        && update.dims().equals(expected)
                        && List.of("linear", "circular").contains(mode),
                "it writes " + update.text() + " into " + data.text() + " along axis " + axis + " (" + mode + ")",
                "parts of the data's shape but for an axis that is not the first, in the mode linear or circular");
        List<Integer> lines = update.dims().subList(0, axis + 1);
        int length = data.dim(axis);
        int rows = update.dim(axis);
        Arg row = node.places(Formulas.along(axis + 1, axis, rows), i -> i);
        if (node.has(2)) {
            if (mode.equals("linear")) {
                requireWithin(node, 2, List.of(length - rows + 1));
            }
            row = node.add(row, node.reshape(node.indices(node.arg(2)), Formulas.along(axis + 1, 0, data.dim(0))));
        }
        if (mode.equals("circular")) {
            row = node.subtract(row, node.multiply(node.divide(row, node.number(length, DType.INT32)), length));
        }
        Arg line = node.places(new Shape(lines), i -> i / rows * length);
        int width = Math.toIntExact(new Shape(data.dims().subList(axis + 1, data.rank())).elements());
        int slices = Math.toIntExact(data.elements() / width);
        Arg scattered = node.emit(
                new ScatterNd(ScatterNd.Mode.UPDATE),
                node.reshape(node.arg(0), List.of(slices, width)),
                node.reshape(node.add(line, row), List.of(1, Math.toIntExact(new Shape(lines).elements()))),
                node.reshape(node.arg(1), List.of(Math.toIntExact(new Shape(lines).elements()), width)));
        node.finish(node.reshape(scattered, data));
    }

    /** Replaces slices of so many elements, whose places among all slices are given. */
    private static void scatter(NodeContext node, Arg places, int width) {
        Shape data = node.shape(0);
        if (data.elements() == 0 || node.shape(places).elements() == 0) {
            node.finish(node.arg(0));
            return;
        }
        ScatterNd.Mode mode = mode(node);
        int count = Math.toIntExact(node.shape(places).elements());
        DType dtype = node.dtype(node.arg(0));
        boolean isNarrow = mode != ScatterNd.Mode.UPDATE && !dtype.isFloat() && dtype.bytes() < DType.INT32.bytes();
        DType wide = isNarrow ? DType.INT32 : dtype;
        int slices = Math.toIntExact(data.elements() / width);
        Arg scattered = node.emit(
                new ScatterNd(mode),
                node.cast(node.reshape(node.arg(0), List.of(slices, width)), wide),
                node.reshape(places, List.of(1, count)),
                node.cast(node.reshape(node.arg(2), List.of(count, width)), wide));
        node.finish(node.reshape(node.cast(scattered, dtype), data));
    }

    private static ScatterNd.Mode mode(NodeContext node) {
        String reduction = node.text("reduction", "none");
        return switch (reduction) {
            case "none" -> ScatterNd.Mode.UPDATE;
            case "add" -> ScatterNd.Mode.ADD;
            case "mul" -> ScatterNd.Mode.MUL;
            case "min" -> ScatterNd.Mode.MIN;
            case "max" -> ScatterNd.Mode.MAX;
            default -> throw node.failure("its reduction is `" + reduction + "`", "none, add, mul, min or max");
        };
    }

    private static void slice(NodeContext node) {
        boolean isInput = node.version() >= SLICE_INPUTS;
        List<Long> starts = isInput ? node.integers(1, "starts") : node.requiredWholes("starts");
        List<Long> ends = isInput ? node.integers(2, "ends") : node.requiredWholes("ends");
        Optional<List<Long>> axes = isInput ? node.optional(3).map(a -> node.integers(3, "axes")) : node.wholes("axes");
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
        Shape shape = node.shape(0);
        int axis = node.axis(node.whole("axis", 0), shape.rank());
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
            node.finish(i, node.slice(node.arg(0), axis, begin, end), node.element(0));
            begin = end;
        }
    }

    /** Parts of one size, the last one smaller if need be, unless the file states sizes. */
    private static List<Long> sizes(NodeContext node, int size) {
        if (node.version() >= SPLIT_INPUT && node.has(1)) {
            return node.integers(1, "split");
        }
        Optional<List<Long>> stated = node.wholes("split");
        if (stated.isPresent()) {
            return stated.orElseThrow();
        }
        long parts = node.whole("num_outputs", node.outputs());
        node.require(parts == node.outputs() && parts > 0, "its num_outputs is " + parts, "" + node.outputs());
        long part = (size + parts - 1) / parts;
        return LongStream.range(0, parts)
                .map(i -> Math.max(0, Math.min(part, size - i * part)))
                .boxed()
                .toList();
    }

    /** Cut, or padded with zeros, at both ends of each axis; an odd element more is at the end. */
    private static void centre(NodeContext node) {
        int rank = node.shape(0).rank();
        List<Long> sizes = node.integers(1, "shape");
        List<Long> axes =
                node.wholes("axes").orElse(LongStream.range(0, rank).boxed().toList());
        node.require(
                axes.size() == sizes.size() && sizes.stream().allMatch(size -> size > 0 && size <= Integer.MAX_VALUE),
                "its shape is " + sizes + " along the axes " + axes,
                "a size above 0 for each axis");
        Arg value = node.arg(0);
        for (int i = 0; i < axes.size(); i++) {
            int axis = node.axis(axes.get(i), rank);
            int size = sizes.get(i).intValue();
            int more = size - node.shape(value).dim(axis);
            if (more <= 0) {
                value = node.slice(value, axis, -more / 2, -more / 2 + size);
            } else {
                Arg begin = zeros(node, value, axis, more / 2);
                value = node.concatenate(List.of(begin, value, zeros(node, value, axis, more - more / 2)), axis);
            }
        }
        node.finish(value);
    }

    private static Arg zeros(Formulas e, Arg like, int axis, int size) {
        return e.broadcast(e.number(0, e.dtype(like)), e.shape(like).with(axis, size));
    }

    /** Elements where a condition that is known at build time is true. */
    private static void compress(NodeContext node) {
        List<Long> condition = node.integers(1, "condition");
        Arg data = node.arg(0);
        int axis = 0;
        if (node.has("axis")) {
            axis = node.axis(node.whole("axis", 0), node.shape(0).rank());
        } else {
            data = node.reshape(data, List.of(Math.toIntExact(node.shape(0).elements())));
        }
        int size = node.shape(data).dim(axis);
        List<Integer> kept = IntStream.range(0, Math.min(size, condition.size()))
                .filter(i -> condition.get(i) != 0)
                .boxed()
                .toList();
        node.finish(node.take(data, node.ints(kept, Shape.of(kept.size())), axis));
    }

    /**
     * {@code GridSample} of images: each element of the result lies at a place of the image that the grid gives, from -1 to 1. It is the sum of
     * the pixels around that place times weights, which are products of one for each dimension.
     */
    private static final class GridSampleImporter implements OnnxImporter {
        private static final int RANK = 4;
        private static final List<Integer> CHANNELS_LAST = List.of(0, 2, 3, 1);
        private static final List<Integer> CHANNELS_FIRST = List.of(0, 3, 1, 2);

        /** The factor of the cubic polynomial (Keys, 1981), as in ONNX. */
        private static final double CUBIC = -0.75;

        /**
         * A pixel's place in one dimension.
         *
         * @param index int32, inside the image
         * @param weight its factor; 0 outside the image if that counts as 0
         */
        private record Tap(Arg index, Arg weight) {}

        @Override
        public void emit(NodeContext node) {
            Shape shape = node.shape(0);
            Shape grid = node.shape(1);
            node.require(
                    shape.rank() == RANK && grid.rank() == RANK && grid.dim(3) == 2,
                    "its data is " + shape.text() + " and its grid " + grid.text(),
                    "images, and a grid of pairs");
            int batch = shape.dim(0);
            int places = grid.dim(1) * grid.dim(2);
            Arg pairs = node.reshape(node.cast(node.arg(1), DType.FLOAT32), List.of(batch, places, 2));
            List<Tap> columns = taps(node, node.slice(pairs, 2, 0, 1), shape.dim(3));
            List<Tap> rows = taps(node, node.slice(pairs, 2, 1, 2), shape.dim(2));
            Arg pixels = node.reshape(
                    node.transpose(node.arg(0), CHANNELS_LAST),
                    List.of(batch, shape.dim(2) * shape.dim(3), shape.dim(1)));
            List<Arg> terms = new ArrayList<>();
            for (Tap row : rows) {
                for (Tap column : columns) {
                    Arg place = node.add(node.multiply(row.index(), shape.dim(3)), column.index());
                    Arg pixel = node.emit(new Take(1, 1), pixels, node.reshape(place, List.of(batch, places)));
                    terms.add(node.multiply(pixel, node.multiply(row.weight(), column.weight())));
                }
            }
            Arg sum = terms.stream().reduce(node::add).orElseThrow();
            Arg image = node.reshape(sum, List.of(batch, grid.dim(1), grid.dim(2), shape.dim(1)));
            node.finish(node.transpose(image, CHANNELS_FIRST));
        }

        private static List<Tap> taps(NodeContext node, Arg grid, int size) {
            boolean isAligned = node.truth("align_corners", false);
            Arg from0 = node.add(grid, 1);
            Arg x = isAligned
                    ? node.multiply(from0, (size - 1) / 2.0)
                    : node.multiply(node.add(node.multiply(from0, size), -1), 0.5);
            String padding = node.text("padding_mode", "zeros");
            String mode = node.text("mode", "bilinear");
            Edge edge = new Edge(node, padding, size, isAligned);
            return switch (mode) {
                case "nearest" -> List.of(edge.tap(node.unary(Unary.Kind.ROUND, edge.inside(x)), Edge.one(node)));
                case "bilinear", "linear" -> linear(node, edge, edge.inside(x));
                case "bicubic", "cubic" -> cubic(node, edge, edge.inside(x));
                default -> throw node.failure("its mode is `" + mode + "`", "nearest, linear or cubic");
            };
        }

        private static List<Tap> linear(Formulas e, Edge edge, Arg x) {
            Arg floor = e.unary(Unary.Kind.FLOOR, x);
            Arg rest = e.subtract(x, floor);
            return List.of(edge.tap(floor, e.subtract(Edge.one(e), rest)), edge.tap(e.add(floor, 1), rest));
        }

        private static List<Tap> cubic(Formulas e, Edge edge, Arg x) {
            Arg floor = e.unary(Unary.Kind.FLOOR, x);
            Arg rest = e.subtract(x, floor);
            Arg other = e.subtract(Edge.one(e), rest);
            return List.of(
                    edge.tap(e.add(floor, -1), far(e, e.add(rest, 1))),
                    edge.tap(floor, near(e, rest)),
                    edge.tap(e.add(floor, 1), near(e, other)),
                    edge.tap(e.add(floor, 2), far(e, e.add(other, 1))));
        }

        /** For distances up to 1: {@code ((a + 2) x - (a + 3)) x^2 + 1}. */
        private static Arg near(Formulas e, Arg x) {
            Arg line = e.add(e.multiply(x, CUBIC + 2), -(CUBIC + 3));
            return e.add(e.multiply(e.multiply(line, x), x), 1);
        }

        /** For distances from 1 to 2: {@code ((a x - 5 a) x + 8 a) x - 4 a}. */
        private static Arg far(Formulas e, Arg x) {
            Arg line = e.add(e.multiply(x, CUBIC), -5 * CUBIC);
            return e.add(e.multiply(e.add(e.multiply(line, x), 8 * CUBIC), x), -4 * CUBIC);
        }

        /** The treatment of places outside the image along one dimension. */
        private record Edge(NodeContext node, String padding, int size, boolean isAligned) {
            Edge {
                node.require(
                        List.of("zeros", "border", "reflection").contains(padding),
                        "its padding_mode is `" + padding + "`",
                        "zeros, border or reflection");
            }

            static Arg one(Formulas node) {
                return node.real(1);
            }

            /** The place that stands for one outside the image. */
            Arg inside(Arg x) {
                return switch (padding) {
                    case "border" -> limited(x);
                    case "reflection" -> reflected(x);
                    default -> x;
                };
            }

            Tap tap(Arg place, Arg weight) {
                Arg limited = limited(inside(place));
                Arg index = node.cast(limited, DType.INT32);
                if (!padding.equals("zeros")) {
                    return new Tap(index, weight);
                }
                Arg isInside = node.equal(limited, place);
                return new Tap(index, node.where(isInside, weight, node.real(0)));
            }

            private Arg limited(Arg x) {
                Arg above = node.maximum(x, node.real(0));
                return node.minimum(above, node.real(size - 1));
            }

            /** Mirrored at the centres of the outermost pixels, or at their outer edges, as often as needed. */
            private Arg reflected(Arg x) {
                double least = isAligned ? 0 : -0.5;
                double range = isAligned ? size - 1 : size;
                if (range == 0) {
                    return node.multiply(x, 0);
                }
                Arg period = node.real(2 * range);
                Arg within = node.binary(Binary.Kind.FLOOR_MOD, node.add(x, -least), period);
                Arg back = node.subtract(period, within);
                return node.add(node.minimum(within, back), least);
            }
        }
    }
}
