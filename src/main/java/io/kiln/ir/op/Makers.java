// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

/** Functions of several values, such as the constructors of records. */
public final class Makers {
    private Makers() {}

    /** A function of three values. */
    @FunctionalInterface
    public interface Of3<A, B, C, R> {
        R apply(A first, B second, C third);
    }

    /** A function of four values. */
    @FunctionalInterface
    public interface Of4<A, B, C, D, R> {
        R apply(A first, B second, C third, D fourth);
    }

    /** A function of five values. */
    @FunctionalInterface
    public interface Of5<A, B, C, D, E, R> {
        R apply(A first, B second, C third, D fourth, E fifth);
    }

    /** A function of six values. */
    @FunctionalInterface
    public interface Of6<A, B, C, D, E, F, R> {
        R apply(A first, B second, C third, D fourth, E fifth, F sixth);
    }
}
