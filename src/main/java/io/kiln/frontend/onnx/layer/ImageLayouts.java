// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.ir.Arg;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Conversions between ONNX's layout, channels before the spatial dimensions, and that of the IR, channels last. The
 * transposes around a layer meet those of its neighbours and cancel, see {@code io.kiln.transform}.
 */
final class ImageLayouts {
    /** Dimensions of an image of two spatial dimensions. */
    static final int IMAGE = 4;

    private ImageLayouts() {}

    /** Moves the channels of (N, C, ...) to the end. */
    static Arg channelsLast(Expressions e, Arg data) {
        int rank = e.shape(data).rank();
        List<Integer> axes = new ArrayList<>(List.of(0));
        IntStream.range(2, rank).forEach(axes::add);
        axes.add(1);
        return rank < 3 ? data : e.transpose(data, axes);
    }

    /** Moves the last dimension of (N, ..., C) to the second place. */
    static Arg channelsFirst(Expressions e, Arg data) {
        int rank = e.shape(data).rank();
        List<Integer> axes = new ArrayList<>(List.of(0, rank - 1));
        IntStream.range(1, rank - 1).forEach(axes::add);
        return rank < 3 ? data : e.transpose(data, axes);
    }

    /** Data (N, ..., C) of at most two spatial dimensions as (N, H, W, C). */
    static Arg image(Expressions e, Arg data) {
        Shape shape = e.shape(data);
        List<Integer> dims = new ArrayList<>(shape.dims());
        while (dims.size() < IMAGE) {
            dims.add(1, 1);
        }
        return e.reshape(data, dims);
    }

    /** The inverse of {@link #image} for data of a rank. */
    static Arg ofImage(Expressions e, Arg image, int rank) {
        List<Integer> dims = new ArrayList<>(e.shape(image).dims());
        while (dims.size() > rank) {
            dims.remove(1);
        }
        return e.reshape(image, dims);
    }
}
