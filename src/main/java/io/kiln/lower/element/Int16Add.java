// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.arith.TflAddParameters;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.element.QnnBinary;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Limits;
import java.util.Optional;

/**
 * TFLite's quantized sum or difference of two int16 values, {@link TflAddParameters} has the formula. The side of the larger scale is
 * multiplied by exactly 2^14. The other one is shifted by 15 bits to the left and rescaled by a multiplier of at most one half. Both are
 * within 2^29, and their sum is rescaled to the output.
 *
 * @param exact number of the side of the larger scale, 0 or 1
 * @param isDifference whether the right side is subtracted
 * @param multiplier of the other side
 * @param shift of the other side to the right, from 1 to 30; 0 if it is multiplied by 2^14 as well
 * @param outMultiplier of the sum
 * @param outShift of the sum to the right, from 1 to 30
 * @param limits of the results
 */
public record Int16Add(
        int exact, boolean isDifference, int multiplier, int shift, int outMultiplier, int outShift, Limits limits) {
    private static final int HALF = 1 << 30;
    private static final int MOST_SHIFT = 30;

    /** The constants of a fused sum or difference; empty for another operator, with zero points, or if a step could leave 32 bits. */
    public static Optional<Int16Add> of(FusedOperator op) {
        boolean isSum = op.root().op() instanceof QnnAdd add && add.rounding() == Rounding.TFLITE;
        boolean isDifference = op.root().op() instanceof QnnBinary binary && binary.kind() == QnnBinary.Kind.SUBTRACT;
        if (!(isSum || isDifference)
                || op.requantization().isPresent()
                || op.type().dtype() != DType.INT16
                || op.rootTypes().get(0).dtype() != DType.INT16) {
            return Optional.empty();
        }
        float[] scales = new float[3];
        for (int i = 0; i < 3; i++) {
            scales[i] = op.root().constant(2 + 2 * i).real(0);
            if (op.root().constant(3 + 2 * i).integer(0) != 0) {
                return Optional.empty();
            }
        }
        TflAddParameters by = op.root().op() instanceof QnnBinary difference
                ? difference.ofDifference(DType.INT16, scales[0], scales[1], scales[2])
                : TflAddParameters.of(DType.INT16, scales[0], scales[1], scales[2]);
        return of(by, isDifference, Limits.of(op));
    }

    private static Optional<Int16Add> of(TflAddParameters by, boolean isDifference, Limits limits) {
        int exact = isHalf(by.lhs()) ? 0 : 1;
        QuantizedMultiplier other = exact == 0 ? by.rhs() : by.lhs();
        boolean isInRange = isHalf(exact == 0 ? by.lhs() : by.rhs())
                && (isHalf(other) || isShiftedRight(other))
                && isShiftedRight(by.output());
        return isInRange
                ? Optional.of(new Int16Add(
                        exact,
                        isDifference,
                        other.multiplier(),
                        -other.shift(),
                        by.output().multiplier(),
                        -by.output().shift(),
                        limits))
                : Optional.empty();
    }

    private static boolean isHalf(QuantizedMultiplier by) {
        return by.multiplier() == HALF && by.shift() == 0;
    }

    /** Whether {@link io.kiln.lower.Intrinsics#RESCALE_SMALL} takes it for values within 2^30, whose product is rounded to 31 bits first. */
    private static boolean isShiftedRight(QuantizedMultiplier by) {
        return by.multiplier() >= HALF && by.shift() <= -1 && by.shift() >= -MOST_SHIFT;
    }

    /** Whether products of twice the multipliers, plus the steps of the shifts, stay in 32 bits. */
    public boolean isSmall() {
        return isSmall(multiplier, shift) && isSmall(outMultiplier, outShift);
    }

    private static boolean isSmall(int multiplier, int shift) {
        return multiplier + (1L << shift) < Integer.MAX_VALUE;
    }

    /** Whether results have narrower limits than int16. */
    public boolean hasLimits() {
        return limits.low() > Short.MIN_VALUE || limits.high() < Short.MAX_VALUE;
    }

    /** Whether the exact side is subtracted. */
    public boolean subtractsExact() {
        return isDifference && exact == 1;
    }

    /** Whether the other side is subtracted. */
    public boolean subtractsOther() {
        return isDifference && exact == 0;
    }
}
