// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

/** The precision in which a kernel derives tables and multipliers from scales, or rescales. */
public enum FloatPrecision {
    SINGLE,
    DOUBLE;

    /** A result of one operation in this precision. That of two singles is first rounded to a double, which does not change it. */
    public double rounded(double x) {
        return this == SINGLE ? (float) x : x;
    }
}
