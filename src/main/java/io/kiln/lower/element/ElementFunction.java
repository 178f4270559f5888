// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Expr;
import java.util.List;

/**
 * An element-wise function of the corresponding elements of its operands.
 *
 * @param body emits the computation, and returns the result
 * @param fits whether results are in the range of the output's type; others are saturated
 * @param variant suffix of the schedule's name; usually empty
 * @param isArithmetic whether an element is a few instructions of arithmetic: loops then compute several elements at a time, and
 *     what depends only on the channel once
 */
public record ElementFunction(Body body, boolean fits, String variant, boolean isArithmetic) {
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

    /** A function whose results are in range. */
    public static ElementFunction fitting(Body body) {
        return new ElementFunction(body, true, "", false);
    }

    /** A function whose results saturate. */
    static ElementFunction saturating(Body body) {
        return new ElementFunction(body, false, "", false);
    }

    /** The same function, with another suffix of the schedule's name. */
    ElementFunction named(String variant) {
        return new ElementFunction(body, fits, variant, isArithmetic);
    }

    /** The same function as a few instructions of arithmetic. */
    ElementFunction arithmetic() {
        return new ElementFunction(body, fits, variant, true);
    }
}
