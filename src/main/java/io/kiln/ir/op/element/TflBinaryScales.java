// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.arith.TflAddParameters;
import io.kiln.ir.arith.TflQuotient;

/** Checks for which scales the reference kernels define the result of two quantized elements. */
public final class TflBinaryScales {
    private TflBinaryScales() {}

    /**
     * Whether the multipliers are in the reference kernel's ranges. The scales must be positive and finite.
     *
     * @param dtype type of the left operand
     * @param outputScale ignored for comparisons
     */
    public static boolean areDefined(QnnBinary op, DType dtype, float lhsScale, float rhsScale, float outputScale) {
        try {
            return switch (op.kind()) {
                case SUBTRACT ->
                    op.ofDifference(dtype, lhsScale, rhsScale, outputScale).isBelowOne();
                case SQUARED_DIFFERENCE ->
                    TflAddParameters.ofSquaredDifference(dtype, lhsScale, rhsScale, outputScale)
                                    .output()
                                    .multiplier()
                            > 0;
                case DIVIDE -> TflQuotient.of(lhsScale, rhsScale, outputScale).isDefined();
                case MULTIPLY -> op.multiplier(lhsScale, rhsScale, outputScale).multiplier() >= 0;
                case PRELU ->
                    op.multiplier(lhsScale, rhsScale, outputScale).multiplier() >= 0
                            && op.multiplier(lhsScale, 1, outputScale).multiplier() >= 0;
                case EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL -> lhsScale < 1 && rhsScale < 1;
            };
        } catch (IllegalArgumentException notFinite) {
            return false;
        }
    }
}
