// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

/**
 * The arithmetic of {@link io.kiln.ir.op.layer.DetectionPostprocess}: positions of boxes and their overlap, in single
 * precision. The reference kernel decodes boxes in double precision, for which small cores have no instructions; the
 * results differ by a few units in the last place. Generated C computes the same bits, so that both choose the same
 * boxes.
 */
public final class DetectionBoxes {
    /** Coordinates of a box: least y and x, then largest y and x. */
    public static final int COORDINATES = 4;

    /** At this argument {@link #exp} is already 0 or infinite. */
    private static final float EXP_LIMIT = 128;

    private static final float LOG2_E = 1.442695f;

    /** ln 2 in two parts; the first times an integer below 2^8 is exact. */
    private static final float LN_2_HIGH = 0x1.63p-1f;

    private static final float LN_2_REST = 2.12194440e-4f;

    private DetectionBoxes() {}

    /** The middle of a box along an axis: {@code encoding / scale * size + middle} of its anchor. */
    public static float middle(float encoding, float scale, float anchorSize, float anchorMiddle) {
        return encoding / scale * anchorSize + anchorMiddle;
    }

    /** Half of a box's extent along an axis: {@code exp(encoding / scale) * size / 2} of its anchor. */
    public static float half(float encoding, float scale, float anchorSize) {
        return exp(encoding / scale) * 0.5f * anchorSize;
    }

    /**
     * {@code e^x = 2^n * e^r} with n the integer nearest to x / ln 2, and e^r by its series; within two units in the
     * last place, 1 for 0. Only sums, products and conversions, so that the bits are the same wherever floats follow
     * IEEE 754.
     */
    public static float exp(float x) {
        if (Float.isNaN(x)) {
            return x;
        }
        float limited = Math.max(-EXP_LIMIT, Math.min(EXP_LIMIT, x));
        float steps = limited * LOG2_E;
        int power = (int) (steps + (steps < 0 ? -0.5f : 0.5f));
        float r = limited - power * LN_2_HIGH + power * LN_2_REST;
        float series = 1f / 5040;
        series = series * r + 1f / 720;
        series = series * r + 1f / 120;
        series = series * r + 1f / 24;
        series = series * r + 1f / 6;
        series = series * r + 0.5f;
        series = series * r * r + r + 1;
        int half = power / 2;
        return series * power(half) * power(power - half);
    }

    private static float power(int exponent) {
        return Math.scalb(1f, exponent);
    }

    /** The area of a box; not positive if it is empty or inverted in one direction. */
    public static float area(float[] boxes, int box) {
        int at = box * COORDINATES;
        return (boxes[at + 2] - boxes[at]) * (boxes[at + 3] - boxes[at + 1]);
    }

    /** The intersection of two boxes divided by their union; 0 if one of them has no area. */
    public static float intersectionOverUnion(float[] boxes, int a, int b) {
        float areaA = area(boxes, a);
        float areaB = area(boxes, b);
        if (!(areaA > 0 && areaB > 0)) {
            return 0;
        }
        float shared = shared(boxes, a, b, 0) * shared(boxes, a, b, 1);
        return shared / (areaA + areaB - shared);
    }

    private static float shared(float[] boxes, int a, int b, int axis) {
        float from = Math.max(boxes[a * COORDINATES + axis], boxes[b * COORDINATES + axis]);
        float to = Math.min(boxes[a * COORDINATES + axis + 2], boxes[b * COORDINATES + axis + 2]);
        return Math.max(to - from, 0);
    }
}
