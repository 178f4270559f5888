// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.operator.OnnxRegistration.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Updates.ScatterNd;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.IntStream;

/** Pools: the maximum or the mean of each window. Maxima over three dimensions are pooled in two steps. */
final class OnnxPools {
    /** Dimensions before the spatial ones. */
    private static final int LEADING = 2;

    private static final int MAX_SIZE = 1 << 24;

    private static final int VOLUME = 5;

    /** Version from which on windows end where the padding ends. */
    private static final int CLIPPED_WINDOWS = 19;

    static final List<OnnxRegistration> ALL = List.of(
            onnx("MaxPool", OnnxPools::maximum),
            onnx("MaxUnpool", OnnxPools::maxUnpool),
            onnx("AveragePool", new PoolImporter(OnnxPools::average)),
            onnx("GlobalMaxPool", n -> global(n, Reduce.Kind.MAX)),
            onnx("GlobalAveragePool", n -> global(n, Reduce.Kind.MEAN)));

    private OnnxPools() {}

    private static void global(NodeContext node, Reduce.Kind kind) {
        int rank = node.shape(0).rank();
        node.require(rank >= 3, "its data is " + node.shape(0).text(), "at least one spatial dimension");
        Arg last = Spatial.channelsLast(node, node.arg(0));
        List<Integer> axes = IntStream.range(1, rank - 1).boxed().toList();
        node.finish(Spatial.channelsFirst(node, node.reduce(kind, last, axes)));
    }

    private static void maximum(NodeContext node) {
        if (node.hasOutput(1)) {
            new IndexedMaxPool(node, PoolImporter.geometry(node).windows()).emit();
        } else {
            new PoolImporter(OnnxPools::max).emit(node);
        }
    }

    private static Arg max(NodeContext node, Arg data, Spatial windows, Spatial stated) {
        DType dtype = node.dtype(data);
        boolean isUnsigned = dtype == DType.UINT8;
        Arg values = isUnsigned ? node.cast(data, DType.INT16) : data;
        return node.cast(pooled(node, values, windows, MaxPool2d::new), dtype);
    }

    /**
     * The mean of the data in each window; with {@code count_include_pad} also of the zeros around it. What {@code ceil_mode} adds at the
     * end counts as such zeros before version 19, as in ONNX Runtime.
     */
    private static Arg average(NodeContext node, Arg data, Spatial windows, Spatial stated) {
        List<Integer> ends = node.version() < CLIPPED_WINDOWS ? windows.ends() : stated.ends();
        boolean isPadded =
                stated.begins().stream().anyMatch(p -> p > 0) || ends.stream().anyMatch(p -> p > 0);
        if (!isPadded || !node.truth("count_include_pad", false)) {
            return mean(node, data, windows);
        }
        Arg padded = Spatial.padded(node, data, stated.begins(), ends);
        List<Integer> rest = IntStream.range(0, windows.rank())
                .mapToObj(i -> windows.ends().get(i) - ends.get(i))
                .toList();
        return mean(node, padded, windows.padded(windows.unpadded().begins(), rest));
    }

    /** The mean of data (N, ..., C) in each window. */
    private static Arg mean(NodeContext node, Arg data, Spatial windows) {
        Shape shape = node.shape(data);
        return shape.rank() == VOLUME
                ? new VolumeMean(node, shape, windows).of(data)
                : pooled(node, data, windows, AvgPool2d::new);
    }

    /** A pool of data (N, ..., C) that ignores padding; that of a volume pools planes, then along the depth. */
    static Arg pooled(NodeContext node, Arg data, Spatial windows, Function<Window, Op> pool) {
        Shape shape = node.shape(data);
        if (shape.rank() < VOLUME) {
            Arg image = Spatial.image(node, data);
            return Spatial.ofImage(node, node.emit(pool.apply(windows.window()), image), shape.rank());
        }
        int batch = shape.dim(0);
        int depth = shape.dim(1);
        int channels = shape.dim(4);
        Arg planes = node.reshape(data, List.of(batch * depth, shape.dim(2), shape.dim(3), channels));
        Arg pooled = node.emit(pool.apply(windows.window()), planes);
        Shape plane = node.shape(pooled);
        Arg columns = node.reshape(pooled, List.of(batch, depth, plane.dim(1) * plane.dim(2), channels));
        Window along = Window.of(windows.kernel().get(0), 1)
                .strided(windows.strides().get(0), 1)
                .dilated(windows.dilations().get(0), 1)
                .padded(windows.begins().get(0), 0, windows.ends().get(0), 0);
        Arg result = node.emit(pool.apply(along), columns);
        return node.reshape(result, List.of(batch, node.shape(result).dim(1), plane.dim(1), plane.dim(2), channels));
    }

    /** A pool over a window of one, two or three dimensions. */
    record PoolImporter(Pool pool) implements OnnxImporter {
        private static final int MAX_RANK = 5;

        /** The function of a window. */
        interface Pool {
            /**
             * The result for data (N, ..., C).
             *
             * @param windows the geometry, made longer at the end where {@code ceil_mode} asks for one more window
             * @param stated the geometry as stated
             */
            Arg apply(NodeContext node, Arg data, Spatial windows, Spatial stated);
        }

        @Override
        public void emit(NodeContext node) {
            Geometry geometry = geometry(node);
            Arg last = Spatial.channelsLast(node, node.arg(0));
            node.finish(Spatial.channelsFirst(node, pool.apply(node, last, geometry.windows(), geometry.stated())));
        }

        /**
         * Where the windows of a node lie.
         *
         * @param windows made longer at the end where {@code ceil_mode} asks for one more window
         * @param stated as stated
         */
        record Geometry(Spatial windows, Spatial stated) {}

        static Geometry geometry(NodeContext node) {
            Shape data = node.shape(0);
            node.require(
                    data.rank() >= 3 && data.rank() <= MAX_RANK,
                    "its data is " + data.text(),
                    "1 to 3 spatial dimensions");
            List<Integer> sizes = data.dims().subList(2, data.rank());
            List<Integer> kernel = node.requiredWholes("kernel_shape").stream()
                    .map(k -> (int) Math.max(0, Math.min(k, 1 << 20)))
                    .toList();
            Spatial stated = Spatial.of(node, kernel, sizes);
            Spatial windows = node.truth("ceil_mode", false) ? ceiled(stated, sizes) : stated;
            for (int i = 0; i < sizes.size(); i++) {
                node.require(
                        windows.output(i, sizes.get(i)) > 0,
                        "its window " + kernel + " is larger than its padded data " + data.text(),
                        "a smaller window");
            }
            return new Geometry(windows, stated);
        }

        /** One more window where elements are left; it must begin on the data or the padding before it. */
        private static Spatial ceiled(Spatial stated, List<Integer> sizes) {
            List<Integer> ends = new ArrayList<>();
            for (int i = 0; i < stated.rank(); i++) {
                int stride = stated.strides().get(i);
                int padded = sizes.get(i) + stated.begins().get(i);
                int rest = padded + stated.ends().get(i) - stated.span(i);
                int count = Math.floorDiv(rest + stride - 1, stride) + 1;
                if ((count - 1) * stride >= padded) {
                    count--;
                }
                int needed = (count - 1) * stride + stated.span(i) - padded;
                ends.add(Math.max(stated.ends().get(i), needed));
            }
            return stated.padded(stated.begins(), ends);
        }
    }

    /**
     * {@code MaxPool} with its second output: the places of the maxima among all elements of the data. The elements of each
     * tap of the window are compared with the largest so far; of equal ones the first counts, and NaN does not.
     */
    static final class IndexedMaxPool {
        private static final int MOST_TAPS = 256;

        private final NodeContext node;
        private final Spatial windows;
        private final Shape data;
        private final List<Integer> results = new ArrayList<>();

        /** @param windows the geometry, made longer where {@code ceil_mode} asks for one more window */
        IndexedMaxPool(NodeContext node, Spatial windows) {
            this.node = node;
            this.windows = windows;
            this.data = node.shape(0);
            for (int i = 0; i < windows.rank(); i++) {
                results.add(windows.output(i, data.dim(LEADING + i)));
            }
        }

        void emit() {
            int taps = windows.kernel().stream().reduce(1, (a, b) -> Math.min(a * b, 1 << 20));
            node.require(
                    taps <= MOST_TAPS,
                    "it computes the indices of windows of " + windows.kernel(),
                    "at most " + MOST_TAPS + " elements");
            DType dtype = node.dtype(node.arg(0));
            Arg values = padded(node.cast(node.arg(0), dtype == DType.UINT8 ? DType.INT16 : dtype));
            Arg most = values;
            Arg place = node.number(0, DType.INT32);
            for (int tap = 0; tap < taps; tap++) {
                List<Integer> offsets = offsets(tap);
                Arg value = slice(values, offsets);
                Arg own = node.number(offset(offsets), DType.INT32);
                if (tap == 0) {
                    most = dtype.isFloat() ? node.maximum(value, node.number(Float.NEGATIVE_INFINITY, dtype)) : value;
                    place = own;
                } else {
                    place = node.where(node.greater(value, most), own, place);
                    most = node.maximum(value, most);
                }
            }
            node.finish(0, node.cast(most, dtype), node.element(0));
            node.finish(1, node.cast(node.add(firsts(), place), DType.INT64), ElementType.INT64);
        }

        private Arg padded(Arg values) {
            List<Integer> before = new ArrayList<>(Collections.nCopies(LEADING, 0));
            List<Integer> after = new ArrayList<>(before);
            before.addAll(windows.begins());
            after.addAll(windows.ends());
            DType dtype = node.dtype(values);
            double lowest = dtype.isFloat() ? Double.NEGATIVE_INFINITY : dtype.min();
            boolean isPadded =
                    before.stream().anyMatch(p -> p > 0) || after.stream().anyMatch(p -> p > 0);
            return isPadded ? node.emit(new Pad(before, after), values, node.number(lowest, dtype)) : values;
        }

        /** Distances of a tap from the first one of its window. */
        private List<Integer> offsets(int tap) {
            List<Integer> offsets = new ArrayList<>();
            int rest = tap;
            for (int i = windows.rank() - 1; i >= 0; i--) {
                offsets.add(
                        0, rest % windows.kernel().get(i) * windows.dilations().get(i));
                rest /= windows.kernel().get(i);
            }
            return offsets;
        }

        private Arg slice(Arg values, List<Integer> offsets) {
            List<Integer> begin = new ArrayList<>(Collections.nCopies(LEADING, 0));
            List<Integer> end = new ArrayList<>(data.dims().subList(0, LEADING));
            List<Integer> strides = new ArrayList<>(Collections.nCopies(LEADING, 1));
            for (int i = 0; i < windows.rank(); i++) {
                int stride = windows.strides().get(i);
                begin.add(offsets.get(i));
                end.add(offsets.get(i) + (results.get(i) - 1) * stride + 1);
                strides.add(stride);
            }
            return node.emit(new StridedSlice(begin, end, strides), values);
        }

        /** Steps in the order of the data's elements. */
        private int offset(List<Integer> distances) {
            int offset = 0;
            for (int i = 0; i < distances.size(); i++) {
                offset += distances.get(i) * step(i);
            }
            return offset;
        }

        /** How far neighbours along a dimension are apart; with {@code storage_order} the first one is the innermost. */
        private int step(int dimension) {
            boolean isFirstInnermost = node.truth("storage_order", false);
            List<Integer> sizes = data.dims().subList(LEADING, data.rank());
            List<Integer> inner =
                    isFirstInnermost ? sizes.subList(0, dimension) : sizes.subList(dimension + 1, sizes.size());
            return inner.stream().reduce(1, (a, b) -> a * b);
        }

        /** The place of the first tap of each window; before the data if that lies in the padding. */
        private Arg firsts() {
            List<Integer> dims = new ArrayList<>(data.dims().subList(0, LEADING));
            dims.addAll(results);
            int image = Math.toIntExact(data.elements() / data.dim(0) / data.dim(1));
            return node.places(new Shape(dims), position -> {
                int rest = position;
                int place = 0;
                for (int i = windows.rank() - 1; i >= 0; i--) {
                    int first = rest % results.get(i) * windows.strides().get(i)
                            - windows.begins().get(i);
                    place += first * step(i);
                    rest /= results.get(i);
                }
                return rest * image + place;
            });
        }
    }

    /**
     * {@code MaxUnpool}: zeros with the elements of the data at the places that {@link IndexedMaxPool} gives. The indices count
     * in an image of the size that the window implies; a larger {@code output_shape} adds zeros behind it.
     */
    private static void maxUnpool(NodeContext node) {
        Shape data = node.shape(0);
        node.require(
                data.rank() > LEADING && node.shape(1).equals(data),
                "its data is " + data.text() + " and its indices "
                        + node.shape(1).text(),
                "images, and an index for each element");
        Shape image = image(node, data);
        int elements = Math.toIntExact(image.elements());
        int count = Math.toIntExact(data.elements());
        DType dtype = node.dtype(node.arg(0));
        Arg scattered = node.emit(
                new ScatterNd(ScatterNd.Mode.UPDATE),
                node.broadcast(node.number(0, dtype), Shape.of(elements, 1)),
                node.reshape(node.indices(node.arg(1)), List.of(1, count)),
                node.reshape(node.arg(0), List.of(count, 1)));
        node.finish(enlarged(node, node.reshape(scattered, image)));
    }

    /** The size that the window implies. */
    private static Shape image(NodeContext node, Shape data) {
        int rank = data.rank() - LEADING;
        List<Integer> kernel = Spatial.list(node, "kernel_shape", rank, 1);
        List<Integer> strides = Spatial.list(node, "strides", rank, 1);
        List<Integer> pads = Spatial.list(node, "pads", 2 * rank, 0);
        List<Integer> dims = new ArrayList<>(data.dims().subList(0, LEADING));
        for (int i = 0; i < rank; i++) {
            long size =
                    (data.dim(LEADING + i) - 1L) * strides.get(i) + kernel.get(i) - pads.get(i) - pads.get(rank + i);
            node.require(size > 0 && size < MAX_SIZE, "its result has a dimension of " + size, "at least 1");
            dims.add((int) size);
        }
        return new Shape(dims);
    }

    private static Arg enlarged(NodeContext node, Arg image) {
        if (!node.has(2)) {
            return image;
        }
        List<Long> stated = node.integers(2, "output_shape");
        Shape shape = node.shape(image);
        node.require(stated.size() == shape.rank(), "its output_shape is " + stated, shape.rank() + " dimensions");
        List<Integer> after = new ArrayList<>();
        for (int i = 0; i < stated.size(); i++) {
            long more = stated.get(i) - shape.dim(i);
            node.require(more >= 0 && more < MAX_SIZE, "its output_shape is " + stated, "at least " + shape.text());
            after.add((int) more);
        }
        List<Integer> before = Collections.nCopies(after.size(), 0);
        boolean isLarger = after.stream().anyMatch(p -> p > 0);
        return isLarger ? node.emit(new Pad(before, after), image, node.number(0, node.dtype(image))) : image;
    }

    /**
     * Means over the windows of a volume, so that each window is summed in one go: the rows of the data that the windows of a row of the
     * result cover become an image. Rows of the result that cover equally many rows are computed together; only those at the border differ,
     * because padding does not count.
     *
     * @param shape of the data (N, depth, height, width, C)
     */
    private record VolumeMean(NodeContext node, Shape shape, Spatial windows) {
        private static final int MOST_ROWS = 1 << 22;

        Arg of(Arg data) {
            int depth = windows.output(0, shape.dim(1));
            int height = windows.output(1, shape.dim(2));
            long taps = (long) shape.dim(0)
                    * depth
                    * height
                    * windows.kernel().get(0)
                    * windows.kernel().get(1);
            node.require(taps <= MOST_ROWS, "its windows cover " + taps + " rows of the data", "at most " + MOST_ROWS);
            List<List<Integer>> results = rows(depth, height);
            Map<Integer, List<Integer>> byCount = new TreeMap<>();
            for (int i = 0; i < results.size(); i++) {
                byCount.computeIfAbsent(results.get(i).size(), n -> new ArrayList<>())
                        .add(i);
            }
            node.require(
                    !byCount.containsKey(0),
                    "its window at a border covers padding only",
                    "padding smaller than the window");
            int[] places = new int[results.size()];
            int next = 0;
            for (List<Integer> group : byCount.values()) {
                for (int result : group) {
                    places[result] = next++;
                }
            }
            Arg all =
                    node.reshape(data, List.of(shape.dim(0) * shape.dim(1) * shape.dim(2), shape.dim(3), shape.dim(4)));
            List<Arg> parts = new ArrayList<>();
            byCount.forEach((count, group) ->
                    parts.add(means(all, count, group.stream().map(results::get).toList())));
            Arg means = parts.get(0);
            if (parts.size() > 1) {
                means = node.take(node.concatenate(parts, 0), node.places(Shape.of(places.length), i -> places[i]), 0);
            }
            return node.reshape(
                    means,
                    List.of(shape.dim(0), depth, height, node.shape(means).dim(1), shape.dim(4)));
        }

        /** The means of rows of the result that cover equally many rows of the data: (rows, width, C). */
        private Arg means(Arg all, int count, List<List<Integer>> results) {
            List<Integer> taken = results.stream().flatMap(List::stream).toList();
            Arg places = node.places(Shape.of(taken.size()), taken::get);
            Arg images =
                    node.reshape(node.take(all, places, 0), List.of(results.size(), count, shape.dim(3), shape.dim(4)));
            Window window = Window.of(count, windows.kernel().get(2))
                    .strided(1, windows.strides().get(2))
                    .dilated(1, windows.dilations().get(2))
                    .padded(0, windows.begins().get(2), 0, windows.ends().get(2));
            Arg result = node.emit(new AvgPool2d(window), images);
            return node.reshape(
                    result, List.of(results.size(), node.shape(result).dim(2), shape.dim(4)));
        }

        /** For each row of the result, the rows of the data that its windows cover. */
        private List<List<Integer>> rows(int depth, int height) {
            List<List<Integer>> rows = new ArrayList<>();
            for (int n = 0; n < shape.dim(0); n++) {
                for (int d = 0; d < depth; d++) {
                    for (int h = 0; h < height; h++) {
                        List<Integer> covered = new ArrayList<>();
                        for (int plane : covered(0, d)) {
                            for (int row : covered(1, h)) {
                                covered.add((n * shape.dim(1) + plane) * shape.dim(2) + row);
                            }
                        }
                        rows.add(covered);
                    }
                }
            }
            return rows;
        }

        /** What a window covers of the data along a dimension. */
        private List<Integer> covered(int dimension, int window) {
            int size = shape.dim(dimension + 1);
            int begin =
                    window * windows.strides().get(dimension) - windows.begins().get(dimension);
            return IntStream.range(0, windows.kernel().get(dimension))
                    .map(tap -> begin + tap * windows.dilations().get(dimension))
                    .filter(place -> place >= 0 && place < size)
                    .boxed()
                    .toList();
        }
    }
}
