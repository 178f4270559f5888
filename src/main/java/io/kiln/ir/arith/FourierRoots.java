// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

/**
 * The complex numbers of absolute value 1 by which the passes of {@link io.kiln.ir.op.signal.SignalOperators.SignalFft} multiply, given
 * by their phases; bit-identical on every machine.
 */
public final class FourierRoots {
    private FourierRoots() {}

    /**
     * Phase of a factor of the complex transform.
     *
     * @param index from 0 to {@code points - 1}
     * @param points number of complex numbers
     */
    public static double passPhase(int index, int points, boolean inverse) {
        double phase = -2 * Math.PI * index / points;
        return inverse ? -phase : phase;
    }

    /**
     * Phase of a factor of the pass that separates even and odd samples.
     *
     * @param k frequency, from 1 to {@code points / 2}
     * @param points number of complex numbers
     */
    public static double splitPhase(int k, int points, boolean inverse) {
        double phase = -Math.PI * ((double) k / points + .5);
        return inverse ? -phase : phase;
    }

    public static double real(double phase) {
        return StrictMath.cos(phase);
    }

    public static double imaginary(double phase) {
        return StrictMath.sin(phase);
    }

    /**
     * A number from -1 to 1 as a fraction.
     *
     * @param bits fraction bits, 15 or 31
     */
    public static int fraction(double value, int bits) {
        return (int) Math.floor(.5 + ((1L << bits) - 1) * value);
    }
}
