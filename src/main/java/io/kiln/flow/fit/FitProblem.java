// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.fit;

import io.kiln.base.Failure;
import io.kiln.base.Problem;
import io.kiln.tuning.fit.FitCost;
import io.kiln.tuning.fit.FitLimits;
import java.util.Comparator;
import java.util.Locale;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.ToLongFunction;

/** What to say if no image fits. */
final class FitProblem {
    private FitProblem() {}

    /**
     * The message.
     *
     * @param board id of the board
     * @param images those that were measured
     */
    static Problem of(String board, FitLimits limits, Map<FitWay, FitImage> images) {
        Optional<String> flash = least(images, FitCost::flash);
        Optional<String> ram = least(images, FitCost::ram);
        return Failure.MEMORY.problem(
                flash.isEmpty() || ram.isEmpty()
                        ? "no image is small enough to run in the emulator"
                        : "none of " + images.size() + " images fits: the least flash takes " + flash.get()
                                + ", the least RAM " + ram.get(),
                "board " + board + ", kiln.optimize=fit",
                limit("flash", limits.flash()) + " and " + limit("RAM", limits.ram()),
                "Raise kiln.limit.flash or kiln.limit.ram, or take a smaller model or a board with more memory");
    }

    private static Optional<String> least(Map<FitWay, FitImage> images, ToLongFunction<FitCost> memory) {
        return images.entrySet().stream()
                .min(Comparator.comparingLong(
                        image -> memory.applyAsLong(image.getValue().cost())))
                .map(FitProblem::text);
    }

    private static String text(Entry<FitWay, FitImage> image) {
        FitCost cost = image.getValue().cost();
        return String.format(
                Locale.ROOT,
                "%,d bytes with %,d of RAM (%s)",
                cost.flash(),
                cost.ram(),
                image.getKey().text());
    }

    private static String limit(String memory, OptionalLong bytes) {
        return bytes.isPresent()
                ? String.format(Locale.ROOT, "at most %,d bytes of %s", bytes.getAsLong(), memory)
                : "the board's " + memory;
    }
}
