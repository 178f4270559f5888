// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.ByteSize;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.base.Problems;
import io.kiln.tuning.fit.FitSearch.FitLimits;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * What memory an image may take, and whether the fastest one within that is searched.
 *
 * @param isSought whether {@code kiln.optimize} is {@code fit}
 * @param limits {@code kiln.limit.flash} and {@code kiln.limit.ram}
 */
public record FitSpec(boolean isSought, FitLimits limits) {
    /** Any memory that the board has, and no search. */
    public static final FitSpec NONE = new FitSpec(false, FitLimits.NONE);

    /** The value of {@code kiln.optimize} for which the fastest image is searched. */
    public static final String FIT = "fit";

    /**
     * Reads parameters.
     *
     * @param optimize value of {@code kiln.optimize}
     * @param flash value of {@code kiln.limit.flash}; empty if it is not set
     * @param ram value of {@code kiln.limit.ram}; empty if it is not set
     * @param problems receives values that are no sizes
     */
    public static FitSpec of(String optimize, Optional<String> flash, Optional<String> ram, Problems problems) {
        return new FitSpec(
                isFit(optimize), new FitLimits(bytes("flash", flash, problems), bytes("ram", ram, problems)));
    }

    /**
     * The goal of a build, which is speed where the fastest that fits is searched.
     *
     * @throws KilnException for text that is no value of {@code kiln.optimize}, with the list of values
     */
    public static Optimize goal(String optimize) {
        if (isFit(optimize)) {
            return Optimize.SPEED;
        }
        List<String> goals = Stream.of(Optimize.values()).map(Optimize::text).toList();
        if (!goals.contains(optimize)) {
            throw Failure.CONFIG.exception(
                    "kiln.optimize is '" + optimize + "'",
                    "",
                    "one of " + String.join(", ", goals) + ", " + FIT,
                    "Change kiln.optimize");
        }
        return Optimize.of(optimize);
    }

    private static boolean isFit(String optimize) {
        return optimize.strip().equals(FIT);
    }

    private static OptionalLong bytes(String memory, Optional<String> text, Problems problems) {
        if (text.isEmpty()) {
            return OptionalLong.empty();
        }
        OptionalLong bytes = ByteSize.parse(text.get().strip());
        if (bytes.isEmpty() || bytes.getAsLong() == 0) {
            problems.add(
                    "kiln.limit." + memory + " is '" + text.get() + "'",
                    "",
                    "bytes, or a number with K, M or G, such as 96K",
                    "Correct kiln.limit." + memory);
            return OptionalLong.empty();
        }
        return bytes;
    }
}
