// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** {@code Conv} over one, two or three dimensions: data (N, C, ...), weight (M, C / group, ...), bias. */
final class OnnxConvolutionImporter implements OnnxImporter {
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
        List<Integer> sizes = data.dims().subList(2, data.rank());
        List<Integer> kernel = weight.dims().subList(2, data.rank());
        node.attributes()
                .wholes("kernel_shape")
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
        long stated = node.attributes().whole("group", 1);
        node.require(
                stated >= 1
                        && stated <= data.dim(1)
                        && (long) weight.dim(1) * stated == data.dim(1)
                        && weight.dim(0) % stated == 0,
                "its weight " + weight.text() + " and group " + stated + " do not fit its data " + data.text(),
                "(M, C / group, ...), M divisible by group");
        int groups = (int) stated;
        Arg last = ImageLayouts.channelsLast(e, node.arg(0));
        Arg result = data.rank() == VOLUME
                ? VolumeConvolution.emit(e, node, last, node.arg(1), spatial, groups)
                : image(e, node, last, spatial, groups);
        if (node.has(2) && data.rank() == VOLUME) {
            result = e.add(result, node.arg(2));
        }
        node.finish(ImageLayouts.channelsFirst(e, result));
    }

    private static Arg image(Expressions e, NodeContext node, Arg last, Spatial spatial, int groups) {
        Arg weight = node.arg(1);
        Shape shape = e.shape(weight);
        if (shape.rank() < ImageLayouts.IMAGE) {
            weight = e.reshape(weight, List.of(shape.dim(0), shape.dim(1), 1, shape.dim(2)));
        }
        Arg result = convolve(e, node, ImageLayouts.image(e, last), weight, spatial, groups);
        if (node.has(2)) {
            result = node.emit(new BiasAdd(-1), result, node.arg(2));
        }
        return ImageLayouts.ofImage(e, result, shape.rank());
    }

    /**
     * A convolution over an image.
     *
     * @param image (N, H, W, C)
     * @param weight (M, C / group, kH, kW)
     */
    static Arg convolve(Expressions e, NodeContext node, Arg image, Arg weight, Spatial spatial, int groups) {
        Arg data = image;
        Spatial geometry = spatial;
        if (!spatial.isOrdinary()) {
            data = padded(e, node, image, spatial);
            geometry = spatial.unpadded();
        }
        int inputs = e.shape(data).dim(-1);
        int channels = e.shape(weight).dim(0);
        if (groups > 1 && groups == inputs) {
            Shape shape = e.shape(weight);
            Arg parted = e.reshape(weight, List.of(groups, channels / groups, shape.dim(2), shape.dim(3)));
            Arg kernel = e.transpose(parted, List.of(2, 3, 0, 1));
            return node.emit(new Conv2d(geometry.window(), groups, channels, "HWOI"), data, kernel);
        }
        Arg kernel = e.transpose(weight, List.of(0, 2, 3, 1));
        return node.emit(new Conv2d(geometry.window(), groups, channels, "OHWI"), data, kernel);
    }

    /** The image with zeros around it. */
    private static Arg padded(Expressions e, NodeContext node, Arg image, Spatial spatial) {
        List<Integer> before = new ArrayList<>(spatial.begins());
        List<Integer> after = new ArrayList<>(spatial.ends());
        while (before.size() < 2) {
            before.add(0, 0);
            after.add(0, 0);
        }
        before.add(0, 0);
        after.add(0, 0);
        before.add(0);
        after.add(0);
        return node.emit(new Pad(before, after), image, e.number(0, DType.FLOAT32));
    }
}
