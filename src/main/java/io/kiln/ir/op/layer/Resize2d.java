// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * Resizes an image, NHWC, in TensorFlow Lite's arithmetic ({@link io.kiln.ir.arith.ResizeCoordinates}). Argument: data.
 *
 * @param height height of the result
 * @param width width of the result
 * @param linear whether elements are interpolated, rather than taken from the nearest
 * @param alignCorners whether the centres of the corner pixels are aligned
 * @param halfPixelCenters whether a pixel's centre is half a pixel after its index
 */
public record Resize2d(int height, int width, boolean linear, boolean alignCorners, boolean halfPixelCenters)
        implements Op {
    private static final int MAX_SIZE = 1 << 15;

    public static final Signature<Resize2d> SIGNATURE = Signature.of(Resize2d.class, "image.resize2d")
            .data(
                    "data",
                    operand -> operand.rank(4)
                            .filled()
                            .fits((what, type, op, args) -> Check.that(
                                    !op.linear || type.dtype().isFloat() || type.dtype() == DType.INT8,
                                    "image.resize2d interpolates int8 or float32, not "
                                            + type.dtype().text())))
            .attributes(
                    Attribute.wholes("size", Resize2d::size, 1, MAX_SIZE, 2).then("layout", "NHWC"),
                    Attribute.either("method", Resize2d::linear, "linear", "nearest_neighbor"),
                    Attribute.truth("align_corners", Resize2d::alignCorners),
                    Attribute.truth("half_pixel_centers", Resize2d::halfPixelCenters)
                            .then("rounding", "TFLITE"),
                    Resize2d::of)
            .own()
            .result(Resize2d::result);

    @Override
    public Card<Resize2d> card() {
        return SIGNATURE.of(this);
    }

    private TensorType result(List<TensorType> args) {
        Shape data = args.get(0).shape();
        Check.that(height > 0 && width > 0, "the size " + height + ", " + width + " is not above 0");
        return new TensorType(
                Shape.of(data.dim(0), height, width, data.dim(3)), args.get(0).dtype());
    }

    private List<Integer> size() {
        return List.of(height, width);
    }

    private static Resize2d of(List<Integer> size, boolean linear, boolean alignCorners, boolean halfPixelCenters) {
        boolean isWhole = size.size() == 2;
        return new Resize2d(
                isWhole ? size.get(0) : 1, isWhole ? size.get(1) : 1, linear, alignCorners, halfPixelCenters);
    }
}
