// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.bench.BenchData.Row;
import io.kiln.bench.BenchResult.Figures;
import io.kiln.tuning.task.Objective.Metric;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * One row with and without the records that come with Kiln.
 *
 * @param row the row
 * @param objective what the records minimise: cycles or instructions
 * @param untuned the rules choose all schedules
 * @param tuned records choose where there are some
 */
record BenchComparison(Row row, Metric objective, Figures untuned, Figures tuned) {
    /** Records for cycles may take so many times as many instructions. */
    private static final double MOST_INSTRUCTIONS = 1.1;

    /** Records for instructions may take so many times as many cycles. */
    private static final double MOST_CYCLES = 1.25;

    /** What the records make worse; they must neither cost what they minimise nor RAM. */
    Optional<String> failure() {
        boolean inCycles = objective == Metric.CYCLES;
        return more("cycles", cycles(untuned), cycles(tuned), inCycles ? 1 : MOST_CYCLES)
                .or(() -> more(
                        "instructions", untuned.instructions(), tuned.instructions(), inCycles ? MOST_INSTRUCTIONS : 1))
                .or(() -> more("RAM", untuned.ram(), tuned.ram(), 1));
    }

    private static long cycles(Figures figures) {
        return figures.cycles().expected();
    }

    private static Optional<String> more(String what, long before, long after, double most) {
        return after > most * before
                ? Optional.of("tuned takes more " + what + ": " + after + " in place of " + before)
                : Optional.empty();
    }

    /** A table for the page of measurements; gains of at least 5 % are bold. */
    static String table(List<BenchComparison> comparisons) {
        StringBuilder text = new StringBuilder(
                "| model | core | compiler | instructions | tuned | gain | cycles | tuned | gain |\n");
        text.append("|---|---|---|---:|---:|---:|---:|---:|---:|\n");
        for (BenchComparison one : comparisons) {
            text.append("| ").append(one.row.model());
            text.append(" | ").append(one.row.core());
            text.append(" | ").append(one.row.toolchain());
            text.append(cells(one.untuned.instructions(), one.tuned.instructions()));
            text.append(cells(cycles(one.untuned), cycles(one.tuned)));
            text.append(" |\n");
        }
        return text.toString();
    }

    private static String cells(long before, long after) {
        double percent = 100.0 * (before - after) / before;
        String gain = String.format(Locale.ROOT, "%.1f %%", percent);
        return String.format(Locale.ROOT, " | %,d | %,d | %s", before, after, percent >= 5 ? "**" + gain + "**" : gain);
    }
}
