// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.TransposedConvolutions.Conv2dTranspose;
import io.kiln.ir.op.layer.TransposedConvolutions.TransposedWindow;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * {@code Conv} over one, two or three dimensions: data (N, C, ...), weight (M, C / group, ...), bias. Over three, it is a sum of convolutions over two:
 * one for each plane of the kernel.
 */
final class OnnxConvolutionImporter implements OnnxImporter {
    private static final int VOLUME = 5;

    @Override
    public void emit(NodeContext node) {
        Shape data = node.shape(0);
        Shape weight = node.shape(1);
        requireSpatial(node, data, weight);
        List<Integer> sizes = data.dims().subList(2, data.rank());
        List<Integer> kernel = weight.dims().subList(2, data.rank());
        node.wholes("kernel_shape")
                .ifPresent(stated -> node.require(
                        stated.equals(kernel.stream().map(Long::valueOf).toList()),
                        "its kernel_shape is " + stated,
                        "the weight's " + kernel));
        Spatial spatial = Spatial.of(node, kernel, sizes);
        node.require(
                Stream.concat(spatial.begins().stream(), spatial.ends().stream())
                        .allMatch(pad -> pad >= 0),
                "its pads are " + spatial.begins() + " before and " + spatial.ends() + " after the data",
                "no negative ones; slice the data before the layer instead");
        long stated = node.whole("group", 1);
        node.require(
                stated >= 1
                        && stated <= data.dim(1)
                        && (long) weight.dim(1) * stated == data.dim(1)
                        && weight.dim(0) % stated == 0,
                "its weight " + weight.text() + " and group " + stated + " do not fit its data " + data.text(),
                "(M, C / group, ...), M divisible by group");
        int groups = (int) stated;
        Arg last = Spatial.channelsLast(node, node.arg(0));
        Arg result = data.rank() == VOLUME
                ? volume(node, last, node.arg(1), spatial, groups)
                : image(node, last, spatial, groups);
        if (node.has(2) && data.rank() == VOLUME) {
            result = node.add(result, node.arg(2));
        }
        node.finish(Spatial.channelsFirst(node, result));
    }

    private static void requireSpatial(NodeContext node, Shape data, Shape weight) {
        node.require(
                data.rank() >= 3 && data.rank() <= VOLUME && weight.rank() == data.rank(),
                "its data is " + data.text() + " and its weight " + weight.text(),
                "1 to 3 spatial dimensions, the same for both");
    }

    private static Arg image(NodeContext node, Arg last, Spatial spatial, int groups) {
        Arg weight = node.arg(1);
        Shape shape = node.shape(weight);
        if (shape.rank() < Spatial.IMAGE) {
            weight = node.reshape(weight, List.of(shape.dim(0), shape.dim(1), 1, shape.dim(2)));
        }
        Arg result = convolve(node, Spatial.image(node, last), weight, spatial, groups);
        if (node.has(2)) {
            result = node.emit(new BiasAdd(-1), result, node.arg(2));
        }
        return Spatial.ofImage(node, result, shape.rank());
    }

    /**
     * A convolution over an image.
     *
     * @param image (N, H, W, C)
     * @param weight (M, C / group, kH, kW)
     */
    private static Arg convolve(NodeContext node, Arg image, Arg weight, Spatial spatial, int groups) {
        Arg data = image;
        Spatial geometry = spatial;
        if (!spatial.isOrdinary()) {
            data = Spatial.padded(node, image, spatial.begins(), spatial.ends());
            geometry = spatial.unpadded();
        }
        int inputs = node.shape(data).dim(-1);
        int channels = node.shape(weight).dim(0);
        if (groups > 1 && groups == inputs) {
            Shape shape = node.shape(weight);
            Arg parted = node.reshape(weight, List.of(groups, channels / groups, shape.dim(2), shape.dim(3)));
            Arg kernel = node.transpose(parted, List.of(2, 3, 0, 1));
            return node.emit(new Conv2d(geometry.window(), groups, channels, "HWOI"), data, kernel);
        }
        Arg kernel = node.transpose(weight, List.of(0, 2, 3, 1));
        return node.emit(new Conv2d(geometry.window(), groups, channels, "OHWI"), data, kernel);
    }

    /** The convolution of data (N, D, H, W, C) with a weight (M, C / group, kD, kH, kW). */
    private static Arg volume(NodeContext node, Arg data, Arg weight, Spatial spatial, int groups) {
        int begin = spatial.begins().get(0);
        int end = spatial.ends().get(0);
        Arg deep = Spatial.padded(node, data, List.of(begin, 0, 0), List.of(end, 0, 0));
        Shape shape = node.shape(deep);
        int depth = spatial.output(0, node.shape(data).dim(1));
        node.require(depth > 0, "its window is deeper than its padded data", "a smaller kernel");
        Spatial plane = new Spatial(
                spatial.kernel().subList(1, 3),
                spatial.strides().subList(1, 3),
                spatial.dilations().subList(1, 3),
                spatial.begins().subList(1, 3),
                spatial.ends().subList(1, 3));
        int stride = spatial.strides().get(0);
        Arg sum = null;
        for (int k = 0; k < spatial.kernel().get(0); k++) {
            int first = k * spatial.dilations().get(0);
            Arg planes = node.emit(StridedSlice.along(shape, 1, first, first + (depth - 1) * stride + 1, stride), deep);
            Arg images = node.reshape(planes, List.of(shape.dim(0) * depth, shape.dim(2), shape.dim(3), shape.dim(4)));
            Arg part = convolve(node, images, weight(node, weight, k), plane, groups);
            sum = k == 0 ? part : node.add(sum, part);
        }
        Shape result = node.shape(sum);
        return node.reshape(sum, List.of(shape.dim(0), depth, result.dim(1), result.dim(2), result.dim(3)));
    }

    private static Arg weight(Formulas e, Arg weight, int plane) {
        Shape shape = e.shape(weight);
        Arg slice = e.slice(weight, 2, plane, plane + 1);
        return e.reshape(slice, List.of(shape.dim(0), shape.dim(1), shape.dim(3), shape.dim(4)));
    }

    /**
     * {@code ConvTranspose} over one, two or three dimensions: data (N, C, ...), weight (C, M / group, ...). One without
     * groups, dilation and depth is an operator of the IR; others are a convolution of the data with zeros between its
     * elements.
     */
    static final class OnnxTransposedConvolutionImporter implements OnnxImporter {
        @Override
        public void emit(NodeContext node) {
            Shape data = node.shape(0);
            Shape weight = node.shape(1);
            requireSpatial(node, data, weight);
            long groups = node.whole("group", 1);
            node.require(
                    groups >= 1 && data.dim(1) == weight.dim(0) && data.dim(1) % groups == 0,
                    "its weight " + weight.text() + " and group " + groups + " do not fit its data " + data.text(),
                    "(C, M / group, ...), C divisible by group");
            Spatial spatial = geometry(
                    node, weight.dims().subList(2, weight.rank()), data.dims().subList(2, data.rank()));
            Arg last = Spatial.channelsLast(node, node.arg(0));
            boolean isPlain = groups == 1
                    && data.rank() < VOLUME
                    && spatial.dilations().stream().allMatch(d -> d == 1)
                    && IntStream.range(0, spatial.rank())
                            .allMatch(i -> spatial.begins().get(i) >= 0);
            Arg result = isPlain ? plain(node, last, spatial) : spread(node, last, spatial, (int) groups);
            if (node.has(2)) {
                result = node.add(result, node.arg(2));
            }
            node.finish(Spatial.channelsFirst(node, result));
        }

        private static Arg plain(NodeContext node, Arg last, Spatial spatial) {
            Arg weight = node.arg(1);
            Shape shape = node.shape(weight);
            if (shape.rank() < Spatial.IMAGE) {
                weight = node.reshape(weight, List.of(shape.dim(0), shape.dim(1), 1, shape.dim(2)));
            }
            Arg kernel = node.transpose(weight, List.of(1, 2, 3, 0));
            int endH = spatial.rank() == 1 ? 0 : spatial.ends().get(0);
            int endW = spatial.ends().get(spatial.rank() - 1);
            Window window = spatial.padded(
                            spatial.begins(),
                            spatial.ends().stream().map(end -> Math.max(0, end)).toList())
                    .window();
            TransposedWindow transposed = new TransposedWindow(window, Math.max(0, -endH), Math.max(0, -endW));
            Arg result = node.emit(
                    new Conv2dTranspose(transposed, node.shape(kernel).dim(0)), Spatial.image(node, last), kernel);
            return Spatial.ofImage(node, result, shape.rank());
        }

        /** Zeros between the elements and around them, then a convolution with the kernel in reverse. */
        private static Arg spread(NodeContext node, Arg last, Spatial spatial, int groups) {
            Arg data = last;
            List<Integer> before = new ArrayList<>();
            List<Integer> after = new ArrayList<>();
            for (int i = 0; i < spatial.rank(); i++) {
                data = spread(node, data, i + 1, spatial.strides().get(i));
                int reach = (spatial.kernel().get(i) - 1) * spatial.dilations().get(i);
                int first = reach - spatial.begins().get(i);
                int end = reach - spatial.ends().get(i);
                int size = node.shape(data).dim(i + 1);
                data = node.slice(data, i + 1, Math.max(0, -first), size - Math.max(0, -end));
                before.add(Math.max(0, first));
                after.add(Math.max(0, end));
            }
            Arg padded = Spatial.padded(node, data, before, after);
            List<Integer> ones = Collections.nCopies(spatial.rank(), 1);
            List<Integer> none = Collections.nCopies(spatial.rank(), 0);
            Spatial geometry = new Spatial(spatial.kernel(), ones, spatial.dilations(), none, none);
            Arg weight = reversed(node, groups);
            if (spatial.rank() == VOLUME - 2) {
                return OnnxConvolutionImporter.volume(node, padded, weight, geometry, groups);
            }
            Shape shape = node.shape(weight);
            Arg kernel = shape.rank() < Spatial.IMAGE
                    ? node.reshape(weight, List.of(shape.dim(0), shape.dim(1), 1, shape.dim(2)))
                    : weight;
            Arg result = OnnxConvolutionImporter.convolve(node, Spatial.image(node, padded), kernel, geometry, groups);
            return Spatial.ofImage(node, result, shape.rank());
        }

        /** An axis with zeros after each element but the last. */
        private static Arg spread(NodeContext node, Arg data, int axis, int stride) {
            if (stride == 1) {
                return data;
            }
            Shape shape = node.shape(data);
            Shape parted = shape.inserted(axis + 1);
            List<Integer> none = Collections.nCopies(parted.rank(), 0);
            List<Integer> after = new ArrayList<>(none);
            after.set(axis + 1, stride - 1);
            Arg wide = node.emit(new Pad(none, after), node.reshape(data, parted), node.real(0));
            Shape joined = shape.with(axis, shape.dim(axis) * stride);
            return node.slice(node.reshape(wide, joined), axis, 0, (shape.dim(axis) - 1) * stride + 1);
        }

        /** The weight (C, M / group, ...) as (M, C / group, ...), in reverse along the spatial dimensions. */
        private static Arg reversed(NodeContext node, int groups) {
            Arg weight = node.arg(1);
            Shape shape = node.shape(weight);
            for (int axis = 2; axis < shape.rank(); axis++) {
                int size = shape.dim(axis);
                weight = node.emit(StridedSlice.along(shape, axis, size - 1, -size - 1, -1), weight);
            }
            Shape parted = shape.with(0, shape.dim(0) / groups).inserted(0).with(0, groups);
            List<Integer> axes = new ArrayList<>(List.of(0, 2, 1));
            IntStream.range(3, parted.rank()).forEach(axes::add);
            Shape joined = shape.with(0, shape.dim(1) * groups).with(1, shape.dim(0) / groups);
            return node.reshape(node.transpose(node.reshape(weight, parted), axes), joined);
        }

        /**
         * The attributes; {@code output_shape} and {@code auto_pad} take precedence over {@code pads}. {@code SAME_UPPER} and {@code SAME_LOWER} give
         * the input's size times the stride, but as in ONNX Runtime never more than the taps reach, where the standard adds zeros.
         *
         * @return strides are those of the result; paddings are cut from it, or added if negative
         */
        private static Spatial geometry(NodeContext node, List<Integer> kernel, List<Integer> sizes) {
            int rank = sizes.size();
            List<Integer> strides = Spatial.list(node, "strides", rank, 1);
            List<Integer> dilations = Spatial.list(node, "dilations", rank, 1);
            List<Integer> pads = Spatial.list(node, "pads", 2 * rank, 0);
            List<Integer> more = Spatial.list(node, "output_padding", rank, 0);
            node.require(
                    Collections.min(strides) > 0 && Collections.min(dilations) > 0 && Collections.min(more) >= 0,
                    "its strides and dilations are " + strides + " and " + dilations,
                    "numbers above 0");
            String auto = node.text("auto_pad", "NOTSET");
            Optional<List<Long>> stated = node.wholes("output_shape");
            boolean isSame = auto.startsWith("SAME_");
            List<Integer> begins = new ArrayList<>();
            List<Integer> ends = new ArrayList<>();
            for (int i = 0; i < rank; i++) {
                int whole = strides.get(i) * (sizes.get(i) - 1) + (kernel.get(i) - 1) * dilations.get(i) + 1;
                if (stated.isPresent() || isSame) {
                    List<Long> shape = stated.orElse(List.of());
                    int out = stated.isPresent()
                            ? shape.get(shape.size() - rank + i).intValue()
                            : Math.min(whole + more.get(i), sizes.get(i) * strides.get(i));
                    int total = whole + more.get(i) - out;
                    int half = Math.floorDiv(total, 2);
                    int begin = total < 0 ? 0 : auto.equals("SAME_UPPER") ? half : total - half;
                    begins.add(begin);
                    ends.add(total - begin - more.get(i));
                } else {
                    boolean isValid = auto.equals("VALID");
                    begins.add(isValid ? 0 : pads.get(i));
                    ends.add((isValid ? 0 : pads.get(rank + i)) - more.get(i));
                }
                node.require(
                        whole - begins.get(i) - ends.get(i) > 0, "its padding removes everything", "something left");
            }
            return new Spatial(kernel, strides, dilations, begins, ends);
        }
    }
}
