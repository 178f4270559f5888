// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.base.Log;
import java.util.List;
import java.util.Locale;

/** Says how far a search of layers is, what it promises for the whole models, and the time left: a line after each image. */
final class SearchProgress {
    private final Log log;
    private final List<TaskSearch> searches;
    private final Confirmation whole;
    private final SearchBudget budget;

    SearchProgress(Log log, List<TaskSearch> searches, Confirmation whole, SearchBudget budget) {
        this.log = log;
        this.searches = List.copyOf(searches);
        this.whole = whole;
        this.budget = budget;
    }

    void say() {
        int measured = searches.stream().mapToInt(TaskSearch::measured).sum();
        int left = searches.stream()
                .filter(search -> !search.isFinished())
                .mapToInt(search -> search.size() - search.measured())
                .sum();
        log.info(String.format(
                Locale.ROOT,
                "%d of %d configurations measured, %s, about %d s left",
                measured,
                measured + left,
                best(),
                budget.rest(left)));
    }

    /** The whole models' change where it can be told from the layers', which a layer's neighbours may change. */
    private String best() {
        return whole.promised(searches)
                .map(percent -> "whole model " + TuneSummary.percent(percent) + " by the best layers so far")
                .orElseGet(() -> "best layers so far " + layers());
    }

    private String layers() {
        double before = 0;
        double best = 0;
        for (TaskSearch search : searches) {
            if (search.before().isPresent() && search.best().isPresent()) {
                before += search.before().getAsDouble();
                best += search.best().getAsDouble();
            }
        }
        return TuneSummary.change(before, best);
    }
}
