// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code RoiAlign} with the mean: boxes of images, each divided into as many bins as the result has pixels. A bin is the mean of
 * {@code sampling_ratio} squared samples, which are interpolated between four pixels and 0 far outside the image.
 */
final class RoiAlignImporter implements OnnxImporter {
    private static final int IMAGE_RANK = 4;
    private static final int WITH_MODE = 16;
    private static final int MOST = 256;

    /**
     * Samples along one axis of all boxes.
     *
     * @param low int32, the pixel before each sample
     * @param high the one behind it
     * @param rest distance of the sample from the former
     * @param weight 1; 0 for samples far outside
     */
    private record Samples(Arg low, Arg high, Arg rest, Arg weight) {}

    @Override
    public void emit(NodeContext node) {
        Shape data = node.shape(0);
        Shape boxes = node.shape(1);
        node.require(
                data.rank() == IMAGE_RANK && boxes.rank() == 2 && boxes.dim(1) == 4,
                "its data is " + data.text() + " and its boxes are " + boxes.text(),
                "images, and four numbers for each box");
        String mode = node.attributes().text("mode", "avg");
        node.require(mode.equals("avg"), "its mode is `" + mode + "`", "avg");
        int ratio = size(node, "sampling_ratio", 0);
        Expressions e = new Expressions(node);
        int height = size(node, "output_height", 1) * ratio;
        int width = size(node, "output_width", 1) * ratio;
        Samples rows = samples(node, e, 1, height, ratio);
        Samples columns = samples(node, e, 0, width, ratio);
        Arg image = interpolated(node, e, rows, columns);
        Arg mean = node.emit(new AvgPool2d(Window.of(ratio, ratio).strided(ratio, ratio)), image);
        node.finish(ImageLayouts.channelsFirst(e, mean));
    }

    private static int size(NodeContext node, String name, int otherwise) {
        long size = node.attributes().whole(name, otherwise);
        node.require(
                size > 0 && size <= MOST,
                "its " + name + " is " + size,
                "1 to " + MOST + ": the number of samples is known at build time");
        return (int) size;
    }

    /** The samples along the columns (axis 0) or rows (1) of the images; they vary along dimension 1 or 2 of (box, row, column, 1). */
    private static Samples samples(NodeContext node, Expressions e, int axis, int count, int ratio) {
        boolean isHalfPixel = node.version() >= WITH_MODE
                && node.attributes()
                        .text("coordinate_transformation_mode", "half_pixel")
                        .equals("half_pixel");
        double scale = node.attributes().real("spatial_scale", 1f);
        int boxes = node.shape(1).dim(0);
        Arg scaled = e.add(e.multiply(node.arg(1), scale), isHalfPixel ? -0.5 : 0);
        Arg first = e.slice(scaled, 1, axis, axis + 1);
        Arg extent = e.subtract(e.slice(scaled, 1, axis + 2, axis + 3), first);
        Arg one = e.number(1, DType.FLOAT32);
        Arg bin = e.multiply(isHalfPixel ? extent : e.binary(Binary.Kind.MAXIMUM, extent, one), (double) ratio / count);
        float[] steps = new float[count];
        for (int i = 0; i < count; i++) {
            steps[i] = (i + 0.5f) / ratio;
        }
        Arg place = e.add(first, e.multiply(bin, e.reals(steps, Shape.of(1, count))));
        List<Integer> dims = axis == 0 ? List.of(boxes, 1, count, 1) : List.of(boxes, count, 1, 1);
        return samples(e, e.reshape(place, dims), node.shape(0).dim(IMAGE_RANK - 1 - axis));
    }

    private static Samples samples(Expressions e, Arg place, int size) {
        Arg zero = e.number(0, DType.FLOAT32);
        Arg last = e.number(size - 1, DType.FLOAT32);
        Arg within = e.binary(Binary.Kind.MINIMUM, e.binary(Binary.Kind.MAXIMUM, place, zero), last);
        Arg low = e.unary(Unary.Kind.FLOOR, within);
        Arg high = e.binary(Binary.Kind.MINIMUM, e.add(low, 1), last);
        Arg isInside = e.binary(
                Binary.Kind.LOGICAL_AND,
                e.binary(Binary.Kind.GREATER_EQUAL, place, e.number(-1, DType.FLOAT32)),
                e.binary(Binary.Kind.LESS_EQUAL, place, e.number(size, DType.FLOAT32)));
        return new Samples(
                e.cast(low, DType.INT32),
                e.cast(high, DType.INT32),
                e.subtract(within, low),
                e.where(isInside, e.number(1, DType.FLOAT32), zero));
    }

    /** The samples of all boxes: (box, row, column, channel). */
    private static Arg interpolated(NodeContext node, Expressions e, Samples rows, Samples columns) {
        Shape data = node.shape(0);
        int height = data.dim(2);
        int width = data.dim(3);
        Arg pixels = e.reshape(
                ImageLayouts.channelsLast(e, node.arg(0)), List.of(data.dim(0) * height * width, data.dim(1)));
        Arg image = e.multiply(
                e.reshape(e.indices(node.arg(2)), List.of(node.shape(1).dim(0), 1, 1, 1)), height);
        List<Arg> terms = new ArrayList<>();
        for (int corner = 0; corner < 4; corner++) {
            boolean isLower = corner < 2;
            boolean isLeft = corner % 2 == 0;
            Arg row = e.add(image, isLower ? rows.low : rows.high);
            Arg place = e.add(e.multiply(row, width), isLeft ? columns.low : columns.high);
            Shape shape = e.shape(place);
            Arg taken = e.take(pixels, e.reshape(place, shape.dims().subList(0, IMAGE_RANK - 1)), 0);
            terms.add(e.multiply(taken, e.multiply(weight(e, rows, isLower), weight(e, columns, isLeft))));
        }
        return terms.stream().reduce(e::add).orElseThrow();
    }

    private static Arg weight(Expressions e, Samples samples, boolean isLow) {
        Arg share = isLow ? e.subtract(e.number(1, DType.FLOAT32), samples.rest) : samples.rest;
        return e.multiply(share, samples.weight);
    }
}
