// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.base.Log;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** Says how far a search of layers is, the best so far with its trend, and the time left: a line after each image. */
final class SearchProgress {
    private final Log log;
    private final List<TaskSearch> searches;
    private final int atFirst;
    private String change = "";

    /** @param searches before anything is measured */
    SearchProgress(Log log, List<TaskSearch> searches) {
        this.log = log;
        this.searches = List.copyOf(searches);
        this.atFirst = measured();
    }

    private int measured() {
        return searches.stream().mapToInt(TaskSearch::measured).sum();
    }

    /** @param spent since the search began */
    void say(Duration spent) {
        int measured = measured();
        int left = searches.stream()
                .filter(search -> !search.isFinished())
                .mapToInt(search -> search.size() - search.measured())
                .sum();
        double before = 0;
        double best = 0;
        for (TaskSearch search : searches) {
            if (search.before().isPresent() && search.best().isPresent()) {
                before += search.before().getAsDouble();
                best += search.best().getAsDouble();
            }
        }
        String last = change;
        change = TuneSummary.change(before, best);
        long rest = spent.toSeconds() * left / Math.max(1, measured - atFirst);
        log.info(String.format(
                Locale.ROOT,
                "%d of %d configurations measured, best so far %s of all layers%s%s",
                measured,
                measured + left,
                change,
                last.isEmpty() ? "" : ", before " + last,
                left == 0 ? "" : ", about " + rest + " s left"));
    }
}
