// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.bench.BenchData.Row;
import io.kiln.bench.BenchResult.Figures;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * One row with and without the records that come with Kiln.
 *
 * @param row the row
 * @param untuned the rules choose all schedules
 * @param tuned records choose where there are some
 */
record BenchComparison(Row row, Figures untuned, Figures tuned) {
    /** Records are followed for cycles: so many more instructions are no harm. */
    private static final double MOST_INSTRUCTIONS = 1.1;

    /** What the records make worse; they must neither cost cycles nor RAM. */
    Optional<String> failure() {
        if (tuned.cycles().expected() > untuned.cycles().expected()) {
            return Optional.of("tuned takes more cycles: " + tuned.cycles().expected() + " in place of "
                    + untuned.cycles().expected());
        }
        if (tuned.instructions() > MOST_INSTRUCTIONS * untuned.instructions()) {
            return Optional.of("tuned takes more instructions: " + tuned.instructions() + " in place of "
                    + untuned.instructions());
        }
        return tuned.ram() > untuned.ram()
                ? Optional.of("tuned takes more RAM: " + tuned.ram() + " in place of " + untuned.ram())
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
            text.append(cells(one.untuned.cycles().expected(), one.tuned.cycles().expected()));
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
