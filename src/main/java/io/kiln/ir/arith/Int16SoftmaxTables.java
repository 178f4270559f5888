// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import io.kiln.base.FixedPoint;
import java.util.function.DoubleUnaryOperator;

/**
 * The tables of {@link TflInt16Softmax}. TensorFlow Lite Micro (softmax_common.cc) makes them in single precision, TensorFlow Lite's library
 * (activations.cc, SoftmaxPrepare) in double precision. The exponentials are the same; two of the reciprocals differ by one.
 */
public final class Int16SoftmaxTables {
    private static final Int16SoftmaxTables SINGLE = new Int16SoftmaxTables(FloatPrecision.SINGLE);
    private static final Int16SoftmaxTables DOUBLE = new Int16SoftmaxTables(FloatPrecision.DOUBLE);

    private static final int STEPS = 512;
    private static final int RANGE = 65_535;

    private final FloatPrecision precision;
    private final int[] exponentials;
    private final int[] reciprocals;

    private Int16SoftmaxTables(FloatPrecision precision) {
        this.precision = precision;
        this.exponentials = table(10, Short.MAX_VALUE, x -> rounded(StrictMath.exp(x)));
        this.reciprocals = table(1, Short.MIN_VALUE, x -> rounded(1 / rounded(1 + x)));
    }

    /** The tables in a precision. */
    public static Int16SoftmaxTables of(FloatPrecision precision) {
        return precision == FloatPrecision.SINGLE ? SINGLE : DOUBLE;
    }

    /** 513 exponentials from -10 to 0, as a new array; units of 2^-15. */
    public int[] exponentials() {
        return exponentials.clone();
    }

    /** 513 values of {@code 1 / (1 + x)} from 0 to 1, as a new array; units of 2^-15. */
    public int[] reciprocals() {
        return reciprocals.clone();
    }

    int exponential(int at) {
        return TflInt16Softmax.interpolated(exponentials, at);
    }

    int reciprocal(int at) {
        return TflInt16Softmax.interpolated(reciprocals, at);
    }

    /** Samples of a function over a width, each shifted by half of the chord's error in the middle. */
    private int[] table(int width, int inputZeroPoint, DoubleUnaryOperator function) {
        double inputScale = rounded((double) width / RANGE);
        double outputScale = rounded(2.0 / RANGE);
        double low = rounded(inputScale * (Short.MIN_VALUE - inputZeroPoint));
        double high = rounded(inputScale * (Short.MAX_VALUE - inputZeroPoint));
        double step = rounded(rounded(high - low) / STEPS);
        double range = rounded(rounded(outputScale * Short.MAX_VALUE) - rounded(outputScale * Short.MIN_VALUE));
        double inverse = rounded((RANGE + 1) / range);
        int[] table = new int[STEPS + 1];
        for (int i = 0; i < STEPS; i++) {
            double at = rounded(low + rounded(i * step));
            double after = rounded(low + rounded((i + 1) * step));
            double between = rounded(at + rounded(step / 2));
            double sample = whole(rounded(function.applyAsDouble(at) * inverse));
            double next = rounded(function.applyAsDouble(after) * inverse);
            double middle = whole(rounded(function.applyAsDouble(between) * inverse));
            double missed = rounded(whole(rounded(rounded(next + sample) / 2)) - middle);
            table[i] = limited(sample - whole(rounded(missed / 2)));
        }
        table[STEPS] = limited(whole(rounded(function.applyAsDouble(high) * inverse)));
        return table;
    }

    private double rounded(double x) {
        return precision.rounded(x);
    }

    private static double whole(double x) {
        return FixedPoint.roundHalfAway(x);
    }

    private static int limited(double value) {
        return FixedPoint.clamp((long) value, Short.MIN_VALUE, Short.MAX_VALUE);
    }
}
