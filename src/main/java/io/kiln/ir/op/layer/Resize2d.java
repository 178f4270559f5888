// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Spelling;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

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
    @Override
    public String name() {
        return "image.resize2d";
    }

    @Override
    public int arity() {
        return 1;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes(
                "size",
                List.of(height, width),
                "layout",
                "NHWC",
                "method",
                linear ? "linear" : "nearest_neighbor",
                "align_corners",
                alignCorners ? 1 : 0,
                "half_pixel_centers",
                halfPixelCenters ? 1 : 0,
                "rounding",
                "TFLITE");
    }

    @Override
    public Spelling spelling(List<TensorType> args) {
        return Spelling.own(this);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.rank("data", args.get(0), 4);
        Check.elements(this, args.get(0));
        Shape data = args.get(0).shape();
        Check.that(height > 0 && width > 0, "the size " + height + ", " + width + " is not above 0");
        return new TensorType(
                Shape.of(data.dim(0), height, width, data.dim(3)), args.get(0).dtype());
    }
}
