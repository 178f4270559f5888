// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Expr;
import java.util.List;

/**
 * What an element-wise operator computes of the elements at one place of its operands.
 *
 * @param body emits what the result needs, and gives it
 * @param fits whether results are in the range of the output's type; others are saturated
 * @param variant what the name of the schedule says of it; usually empty
 */
public record ElementFunction(Body body, boolean fits, String variant) {
    /** Computes one element. */
    @FunctionalInterface
    public interface Body {
        /**
         * Emits the statements before the result.
         *
         * @param operands an element of each operand, or its literal
         */
        Expr emit(BlockBuilder block, List<Expr> operands);
    }

    /** Results that are in range. */
    static ElementFunction fitting(Body body) {
        return new ElementFunction(body, true, "");
    }

    /** Results that saturate. */
    static ElementFunction saturating(Body body) {
        return new ElementFunction(body, false, "");
    }

    /** The same, told apart in the name of the schedule. */
    ElementFunction named(String variant) {
        return new ElementFunction(body, fits, variant);
    }
}
