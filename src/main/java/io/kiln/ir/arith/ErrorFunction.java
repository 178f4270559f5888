// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

/** The error function in double precision. */
public final class ErrorFunction {
    /** Beyond, the series needs many terms, and the continued fraction few. */
    private static final double FAR = 2.5;

    /** From here on the result is 1 in double precision. */
    private static final double ONE = 6;

    private static final int FRACTIONS = 60;
    private static final double TINY = 1e-18;

    private ErrorFunction() {}

    /** The error function of a number. */
    public static double of(double x) {
        double magnitude = Math.abs(x);
        if (Double.isNaN(x)) {
            return x;
        }
        if (magnitude >= ONE) {
            return Math.signum(x);
        }
        return magnitude < FAR ? series(x) : Math.copySign(1 - complement(magnitude), x);
    }

    /** One less the error function, by the continued fraction where the difference would cancel. */
    public static double complementOf(double x) {
        return x >= FAR ? complement(x) : 1 - of(x);
    }

    /** {@code 2 / sqrt(pi) * sum of (-1)^n x^(2n+1) / (n! (2n+1))}. */
    private static double series(double x) {
        double power = x;
        double sum = x;
        for (int n = 1; Math.abs(power) > TINY; n++) {
            power *= -x * x / n;
            sum += power / (2 * n + 1);
        }
        return sum * 2 / Math.sqrt(Math.PI);
    }

    /** {@code exp(-x^2) / sqrt(pi) / (x + (1/2) / (x + (2/2) / (x + (3/2) / ...)))}. */
    private static double complement(double x) {
        double fraction = x;
        for (int n = FRACTIONS; n > 0; n--) {
            fraction = x + n / 2.0 / fraction;
        }
        return Math.exp(-x * x) / Math.sqrt(Math.PI) / fraction;
    }
}
