// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

/** Pools: the maximum or the mean of each window. Maxima over three dimensions are pooled in two steps. */
final class OnnxPools {
    private static final int VOLUME = 5;

    /** Version from which on windows end where the padding ends. */
    private static final int CLIPPED_WINDOWS = 19;

    static final List<OnnxRegistration> ALL = List.of(
            onnx("MaxPool", OnnxPools::maximum),
            onnx("MaxUnpool", new MaxUnpoolImporter()),
            onnx("AveragePool", new PoolImporter(OnnxPools::average)),
            onnx("GlobalMaxPool", n -> global(n, Reduce.Kind.MAX)),
            onnx("GlobalAveragePool", n -> global(n, Reduce.Kind.MEAN)));

    private OnnxPools() {}

    private static void global(NodeContext node, Reduce.Kind kind) {
        Expressions e = new Expressions(node);
        int rank = node.shape(0).rank();
        node.require(rank >= 3, "its data is " + node.shape(0).text(), "at least one spatial dimension");
        Arg last = ImageLayouts.channelsLast(e, node.arg(0));
        List<Integer> axes = IntStream.range(1, rank - 1).boxed().toList();
        node.finish(ImageLayouts.channelsFirst(e, e.reduce(kind, last, axes)));
    }

    private static void maximum(NodeContext node) {
        if (node.hasOutput(1)) {
            new IndexedMaxPool(node, PoolImporter.geometry(node).windows()).emit();
        } else {
            new PoolImporter(OnnxPools::max).emit(node);
        }
    }

    private static Arg max(Expressions e, NodeContext node, Arg data, Spatial windows, Spatial stated) {
        DType dtype = e.dtype(data);
        boolean isUnsigned = dtype == DType.UINT8;
        Arg values = isUnsigned ? e.cast(data, DType.INT16) : data;
        return e.cast(pooled(e, node, values, windows, MaxPool2d::new), dtype);
    }

    /**
     * The mean of the data in each window; with {@code count_include_pad} also of the zeros around it. What {@code ceil_mode} adds at the
     * end counts as such zeros before version 19, as in ONNX Runtime.
     */
    private static Arg average(Expressions e, NodeContext node, Arg data, Spatial windows, Spatial stated) {
        List<Integer> ends = node.version() < CLIPPED_WINDOWS ? windows.ends() : stated.ends();
        boolean isPadded =
                stated.begins().stream().anyMatch(p -> p > 0) || ends.stream().anyMatch(p -> p > 0);
        if (!isPadded || !node.attributes().truth("count_include_pad", false)) {
            return mean(e, node, data, windows);
        }
        List<Integer> before = new ArrayList<>(stated.begins());
        List<Integer> after = new ArrayList<>(ends);
        before.add(0, 0);
        before.add(0);
        after.add(0, 0);
        after.add(0);
        Arg padded = node.emit(new Pad(before, after), data, e.number(0, DType.FLOAT32));
        List<Integer> rest = IntStream.range(0, windows.rank())
                .mapToObj(i -> windows.ends().get(i) - ends.get(i))
                .toList();
        return mean(e, node, padded, windows.padded(windows.unpadded().begins(), rest));
    }

    /** The mean of data (N, ..., C) in each window. */
    private static Arg mean(Expressions e, NodeContext node, Arg data, Spatial windows) {
        Shape shape = e.shape(data);
        return shape.rank() == VOLUME
                ? new VolumeMean(node, shape, windows).of(data)
                : pooled(e, node, data, windows, AvgPool2d::new);
    }

    /** A pool of data (N, ..., C) that ignores padding; that of a volume pools planes, then along the depth. */
    static Arg pooled(Expressions e, NodeContext node, Arg data, Spatial windows, Function<Window, Op> pool) {
        Shape shape = e.shape(data);
        if (shape.rank() < VOLUME) {
            Arg image = ImageLayouts.image(e, data);
            return ImageLayouts.ofImage(e, node.emit(pool.apply(windows.window()), image), shape.rank());
        }
        int batch = shape.dim(0);
        int depth = shape.dim(1);
        int channels = shape.dim(4);
        Arg planes = e.reshape(data, List.of(batch * depth, shape.dim(2), shape.dim(3), channels));
        Arg pooled = node.emit(pool.apply(windows.window()), planes);
        Shape plane = e.shape(pooled);
        Arg columns = e.reshape(pooled, List.of(batch, depth, plane.dim(1) * plane.dim(2), channels));
        Window along = Window.of(windows.kernel().get(0), 1)
                .strided(windows.strides().get(0), 1)
                .dilated(windows.dilations().get(0), 1)
                .padded(windows.begins().get(0), 0, windows.ends().get(0), 0);
        Arg result = node.emit(pool.apply(along), columns);
        return e.reshape(result, List.of(batch, e.shape(result).dim(1), plane.dim(1), plane.dim(2), channels));
    }
}
