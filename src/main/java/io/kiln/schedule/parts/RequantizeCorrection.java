// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import io.kiln.lower.ProvenRequantize;
import io.kiln.lower.ProvenRequantize.Corrected;
import java.util.Locale;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * How kernels correct values before they are shifted. A kernel that serves several layers gets a parameter for it: the
 * late offset, added to all values after negative ones are corrected; the bit that makes results odd; or half a step,
 * by which listed values are lowered.
 *
 * @param corrected which values
 * @param count number of corrections of each channel
 * @param shift bits to the right after it
 * @param lateOffset added to all values if negative ones are corrected
 */
public record RequantizeCorrection(Corrected corrected, int count, int shift, int lateOffset) {
    /** The correction of a rescaling. */
    public static RequantizeCorrection of(ProvenRequantize rescale) {
        return new RequantizeCorrection(
                rescale.corrected(), rescale.corrections(), rescale.shift(), rescale.lateOffset());
    }

    /** Whether negative values are corrected. */
    public boolean isSigned() {
        return corrected == Corrected.NEGATIVE;
    }

    /** Whether odd results are corrected. */
    public boolean isOdd() {
        return corrected == Corrected.ODD;
    }

    /** Whether even results are corrected. */
    public boolean isEven() {
        return corrected == Corrected.EVEN;
    }

    /** Whether listed results are corrected. */
    public boolean isListed() {
        return corrected == Corrected.LISTED;
    }

    /** C's name of one of a channel's corrections. */
    public String name(int index) {
        return isSigned() ? "negative" : "correction" + index;
    }

    /** Words of a channel's constants: multiplier, offset, corrections. */
    public int constants() {
        return 2 + count;
    }

    /** Part of a kernel's name, except for negative values. */
    public String suffix() {
        return switch (corrected) {
            case NONE, NEGATIVE -> "";
            case ODD -> "_odd";
            case EVEN -> "_even";
            case LISTED -> "_listed" + count;
        };
    }

    /** The description of a channel's constants in a comment. */
    public String text() {
        return switch (corrected) {
            case NONE -> "";
            case NEGATIVE -> "what negative results are corrected by";
            case ODD -> "what odd results are corrected by";
            case EVEN -> "what even results are corrected by";
            case LISTED -> "values to be lowered";
        };
    }

    /** C's name of the parameter of a kernel for several layers; empty if nothing is corrected. */
    public Optional<String> parameter() {
        return switch (corrected) {
            case NONE -> Optional.empty();
            case NEGATIVE -> Optional.of("late");
            case ODD, EVEN -> Optional.of("odd");
            case LISTED -> Optional.of("half");
        };
    }

    /** The parameter's value. */
    public int argument() {
        return switch (corrected) {
            case NONE, NEGATIVE -> lateOffset;
            case ODD, EVEN -> 1 << shift;
            case LISTED -> 1 << (shift - 1);
        };
    }

    /**
     * The correction in C; empty if nothing is corrected.
     *
     * @param value C's name of the value
     * @param corrections C's expression for each of the channel's corrections
     * @param parameter C's expression for the parameter
     */
    public String twin(String value, IntFunction<String> corrections, String parameter) {
        return switch (corrected) {
            case NONE -> "";
            case NEGATIVE ->
                String.format(
                        Locale.ROOT, "%1$s += %2$s - (%1$s < 0 ? %3$s : 0);\n", value, parameter, corrections.apply(0));
            case ODD, EVEN ->
                String.format(
                        Locale.ROOT,
                        "%1$s -= (%1$s & %2$s) %4$s 0 ? %3$s : 0;\n",
                        value,
                        parameter,
                        corrections.apply(0),
                        corrected == Corrected.ODD ? "!=" : "==");
            case LISTED ->
                String.format(
                        Locale.ROOT,
                        "%s -= %s ? %s : 0;\n",
                        value,
                        IntStream.range(0, count)
                                .mapToObj(i -> value + " == " + corrections.apply(i))
                                .collect(Collectors.joining(" || ")),
                        parameter);
        };
    }

    /** The same for the kernels that cores run, given the parameter: without a branch for negative values. */
    public String line(String value, IntFunction<String> corrections) {
        return isSigned()
                ? String.format(Locale.ROOT, "%1$s += late - ((%1$s >> 31) & %2$s);\n", value, corrections.apply(0))
                : twin(value, corrections, parameter().orElse(""));
    }
}
