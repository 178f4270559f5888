// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.diff;

import io.kiln.base.Failure;
import io.kiln.base.Problem;
import io.kiln.report.diff.BuildDiff.Change;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A limit that the user sets for a figure of the build.
 *
 * @param what the figure: flash, ram, instructions or cycles
 * @param text as the user wrote it: a number, with K for 1,024 or M for 1,048,576, or a share such as {@code +2%} of a baseline
 */
public record FigureBudget(String what, String text) {
    private static final Pattern ABSOLUTE = Pattern.compile("([0-9]{1,12})([KM]?)");
    private static final Pattern SHARE = Pattern.compile("\\+([0-9]{1,3}(?:\\.[0-9]{1,3})?)%");
    private static final double PERCENT = 100;

    /** What is wrong with the text; empty if nothing is. */
    public Optional<Problem> malformed() {
        boolean isFine = ABSOLUTE.matcher(text).matches() || isShare();
        return isFine
                ? Optional.empty()
                : Optional.of(Failure.BUDGET.problem(
                        "`" + text + "` is not a budget", "kiln.budget." + what, "such as 64K, 1200000 or +2%"));
    }

    /** Whether the figure is flash or RAM, which every build knows. */
    public boolean isMemory() {
        return what.equals("flash") || what.equals("ram");
    }

    /** Whether the limit is a share of a baseline. */
    public boolean isShare() {
        return SHARE.matcher(text).matches();
    }

    /**
     * What is over budget; empty if nothing is, or if the figure or the baseline that it needs is unknown.
     *
     * @param change the figure before and now
     */
    public Optional<Problem> exceeded(Change change) {
        Optional<Long> limit = limit(change);
        if (change.after() == null || limit.isEmpty() || change.after() <= limit.get()) {
            return Optional.empty();
        }
        String baseline = isShare() ? " of " + String.format(Locale.ROOT, "%,d", change.before()) : "";
        return Optional.of(Failure.BUDGET.problem(
                String.format(Locale.ROOT, "%s is %,d", what, change.after()),
                "kiln.budget." + what,
                String.format(Locale.ROOT, "at most %,d (%s%s)", limit.get(), text, baseline),
                "Look at what grew, or raise the budget"));
    }

    private Optional<Long> limit(Change change) {
        Matcher share = SHARE.matcher(text);
        if (share.matches()) {
            return Optional.ofNullable(change.before()).map(before ->
                    (long) Math.floor(before * (1 + Double.parseDouble(share.group(1)) / PERCENT)));
        }
        Matcher absolute = ABSOLUTE.matcher(text);
        if (!absolute.matches()) {
            return Optional.empty();
        }
        long unit = absolute.group(2).isEmpty() ? 1 : absolute.group(2).equals("K") ? 1 << 10 : 1 << 20;
        return Optional.of(Long.parseLong(absolute.group(1)) * unit);
    }
}
