// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import java.util.Locale;

/**
 * A C constant of type float, exact to the bit. C99 has no constants for infinities and NaN without {@code math.h}, and
 * an expression such as {@code 0.0f / 0.0f} gives a NaN of the compiler's choice; GCC and Clang have built-in functions
 * that state the bits and are allowed in static initialisers.
 */
public final class FloatLiteral {
    private static final int INFINITY = 0x7F800000;

    /** The bit that marks a quiet NaN. */
    private static final int QUIET = 0x400000;

    private FloatLiteral() {}

    /** The constant of these bits. */
    public static String of(int bits) {
        float value = Float.intBitsToFloat(bits);
        if (Float.isFinite(value)) {
            return Float.toString(value).replace("E", "e") + "f";
        }
        return (bits < 0 ? "-" : "") + magnitude(bits & Integer.MAX_VALUE);
    }

    private static String magnitude(int bits) {
        if (bits == INFINITY) {
            return "__builtin_inff()";
        }
        int payload = bits & (QUIET - 1);
        if ((bits & QUIET) == 0) {
            return String.format(Locale.ROOT, "__builtin_nansf(\"0x%x\")", payload);
        }
        return payload == 0 ? "__builtin_nanf(\"\")" : String.format(Locale.ROOT, "__builtin_nanf(\"0x%x\")", payload);
    }
}
