// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.Conv2dTranspose;
import io.kiln.ir.op.layer.TransposedWindow;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * {@code ConvTranspose} over one, two or three dimensions: data (N, C, ...), weight (C, M / group, ...). One without
 * groups, dilation and depth is an operator of the IR; others are a convolution of the data with zeros between its
 * elements.
 */
final class OnnxTransposedConvolutionImporter implements OnnxImporter {
    private static final int VOLUME = 5;

    @Override
    public void emit(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape data = node.shape(0);
        Shape weight = node.shape(1);
        node.require(
                data.rank() >= 3 && data.rank() <= VOLUME && weight.rank() == data.rank(),
                "its data is " + data.text() + " and its weight " + weight.text(),
                "1 to 3 spatial dimensions, the same for both");
        long groups = node.attributes().whole("group", 1);
        node.require(
                groups >= 1 && data.dim(1) == weight.dim(0) && data.dim(1) % groups == 0,
                "its weight " + weight.text() + " and group " + groups + " do not fit its data " + data.text(),
                "(C, M / group, ...), C divisible by group");
        TransposedSpatial spatial = TransposedSpatial.of(
                node, weight.dims().subList(2, weight.rank()), data.dims().subList(2, data.rank()));
        Arg last = ImageLayouts.channelsLast(e, node.arg(0));
        boolean isPlain = groups == 1
                && data.rank() < VOLUME
                && spatial.dilations().stream().allMatch(d -> d == 1)
                && IntStream.range(0, spatial.rank())
                        .allMatch(i -> spatial.begins().get(i) >= 0);
        Arg result = isPlain ? plain(e, node, last, spatial) : spread(e, node, last, spatial, (int) groups);
        if (node.has(2)) {
            result = e.add(result, node.arg(2));
        }
        node.finish(ImageLayouts.channelsFirst(e, result));
    }

    private static Arg plain(Expressions e, NodeContext node, Arg last, TransposedSpatial spatial) {
        Arg weight = node.arg(1);
        Shape shape = e.shape(weight);
        if (shape.rank() < ImageLayouts.IMAGE) {
            weight = e.reshape(weight, List.of(shape.dim(0), shape.dim(1), 1, shape.dim(2)));
        }
        Arg kernel = e.transpose(weight, List.of(1, 2, 3, 0));
        int w = spatial.rank() - 1;
        Optional<Integer> h = w == 0 ? Optional.empty() : Optional.of(w - 1);
        int endW = spatial.ends().get(w);
        int endH = h.map(spatial.ends()::get).orElse(0);
        Window window = Window.of(
                        h.map(spatial.kernel()::get).orElse(1), spatial.kernel().get(w))
                .strided(
                        h.map(spatial.strides()::get).orElse(1),
                        spatial.strides().get(w))
                .padded(
                        h.map(spatial.begins()::get).orElse(0),
                        spatial.begins().get(w),
                        Math.max(0, endH),
                        Math.max(0, endW));
        TransposedWindow transposed = new TransposedWindow(window, Math.max(0, -endH), Math.max(0, -endW));
        Arg result =
                node.emit(new Conv2dTranspose(transposed, e.shape(kernel).dim(0)), ImageLayouts.image(e, last), kernel);
        return ImageLayouts.ofImage(e, result, shape.rank());
    }

    /** Zeros between the elements and around them, then a convolution with the kernel in reverse. */
    private static Arg spread(Expressions e, NodeContext node, Arg last, TransposedSpatial spatial, int groups) {
        Arg data = last;
        List<Integer> before = new ArrayList<>(List.of(0));
        List<Integer> after = new ArrayList<>(List.of(0));
        for (int i = 0; i < spatial.rank(); i++) {
            data = spread(e, node, data, i + 1, spatial.strides().get(i));
            int reach = (spatial.kernel().get(i) - 1) * spatial.dilations().get(i);
            int first = reach - spatial.begins().get(i);
            int end = reach - spatial.ends().get(i);
            int size = e.shape(data).dim(i + 1);
            data = e.slice(data, i + 1, Math.max(0, -first), size - Math.max(0, -end));
            before.add(Math.max(0, first));
            after.add(Math.max(0, end));
        }
        before.add(0);
        after.add(0);
        Arg padded = node.emit(new Pad(before, after), data, e.number(0, DType.FLOAT32));
        List<Integer> ones = Collections.nCopies(spatial.rank(), 1);
        List<Integer> none = Collections.nCopies(spatial.rank(), 0);
        Spatial geometry = new Spatial(spatial.kernel(), ones, spatial.dilations(), none, none);
        Arg weight = reversed(e, node, groups);
        if (spatial.rank() == VOLUME - 2) {
            return VolumeConvolution.emit(e, node, padded, weight, geometry, groups);
        }
        Shape shape = e.shape(weight);
        Arg kernel = shape.rank() < ImageLayouts.IMAGE
                ? e.reshape(weight, List.of(shape.dim(0), shape.dim(1), 1, shape.dim(2)))
                : weight;
        Arg result = OnnxConvolutionImporter.convolve(e, node, ImageLayouts.image(e, padded), kernel, geometry, groups);
        return ImageLayouts.ofImage(e, result, shape.rank());
    }

    /** An axis with zeros after each element but the last. */
    private static Arg spread(Expressions e, NodeContext node, Arg data, int axis, int stride) {
        if (stride == 1) {
            return data;
        }
        Shape shape = e.shape(data);
        List<Integer> parted = new ArrayList<>(shape.dims());
        parted.add(axis + 1, 1);
        List<Integer> none = new ArrayList<>(Collections.nCopies(parted.size(), 0));
        List<Integer> after = new ArrayList<>(none);
        after.set(axis + 1, stride - 1);
        Arg wide = node.emit(new Pad(none, after), e.reshape(data, parted), e.number(0, DType.FLOAT32));
        List<Integer> joined = new ArrayList<>(shape.dims());
        joined.set(axis, shape.dim(axis) * stride);
        return e.slice(e.reshape(wide, joined), axis, 0, (shape.dim(axis) - 1) * stride + 1);
    }

    /** The weight (C, M / group, ...) as (M, C / group, ...), in reverse along the spatial dimensions. */
    private static Arg reversed(Expressions e, NodeContext node, int groups) {
        Arg weight = node.arg(1);
        Shape shape = e.shape(weight);
        for (int axis = 2; axis < shape.rank(); axis++) {
            int size = shape.dim(axis);
            weight = node.emit(StridedSlice.along(shape, axis, size - 1, -size - 1, -1), weight);
        }
        List<Integer> parted = new ArrayList<>(shape.dims());
        parted.set(0, shape.dim(0) / groups);
        parted.add(0, groups);
        List<Integer> axes = new ArrayList<>(List.of(0, 2, 1));
        IntStream.range(3, parted.size()).forEach(axes::add);
        List<Integer> joined = new ArrayList<>(shape.dims());
        joined.set(0, shape.dim(1) * groups);
        joined.set(1, shape.dim(0) / groups);
        return e.reshape(e.transpose(e.reshape(weight, parted), axes), joined);
    }
}
