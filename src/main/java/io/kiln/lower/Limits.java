// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.DType;

/**
 * The range of an integer result: its type's range, narrowed by a fused clip.
 *
 * @param low least value
 * @param high largest value
 */
public record Limits(long low, long high) {

    /** The limits of an operator's results, which are integers. */
    public static Limits of(FusedOperator op) {
        DType dtype = op.type().dtype();
        long low = op.clip()
                .map(c -> Math.max((long) Math.ceil(c.min()), dtype.min()))
                .orElse(dtype.min());
        long high = op.clip()
                .map(c -> Math.min((long) Math.floor(c.max()), dtype.max()))
                .orElse(dtype.max());
        return new Limits(low, high);
    }
}
