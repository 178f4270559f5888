// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import io.kiln.report.Json.OrNull;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import java.util.List;

/**
 * Content of {@code tune.json}: what a search found. Costs are in nanoseconds; for the objectives {@code instructions}, {@code cycles}, {@code
 * size} and {@code ram} one of them stands for one instruction, cycle or byte. Those of a mix are sums of its weights, each times the quantity
 * relative to the rules' choice.
 *
 * @param board id of the board
 * @param target target string
 * @param objective what became as small as possible
 * @param tuner the search
 * @param records the log
 * @param tasks the layers
 * @param model the whole models before and after
 */
public record TuneReport(
        String board,
        String target,
        String objective,
        String tuner,
        long seed,
        String records,
        List<Task> tasks,
        Whole model) {
    public TuneReport {
        tasks = List.copyOf(tasks);
    }

    /**
     * A layer.
     *
     * @param name its shapes
     * @param template its template in records
     * @param configurations number of those in its space that need no more scratch than the rules' choice
     * @param wrong number of those measured whose answer was wrong
     * @param before what the rules choose
     * @param after the best that was measured
     * @param costs all costs in the order of measuring; null for failures
     */
    public record Task(
            String name,
            String template,
            int configurations,
            long wrong,
            Choice before,
            Choice after,
            @JsonSetter(contentNulls = Nulls.SET) List<Double> costs) {}

    /**
     * A configuration.
     *
     * @param schedule its name with its knobs
     * @param cost its cost; null if it could not be measured
     */
    public record Choice(
            String schedule,
            @JsonSetter(nulls = Nulls.SET) @JsonInclude Double cost) {}

    /**
     * Sums over all models of the image.
     *
     * @param before with the rules' choices
     * @param after with the records
     */
    public record Whole(Sizes before, Sizes after) {}

    /**
     * What an image takes.
     *
     * @param instructions of one inference of each model
     * @param cycles estimate of the same without wait states; null if no timings of the core are known
     * @param flash bytes
     * @param ram bytes
     */
    public record Sizes(
            long instructions,

            @OrNull Long cycles,

            long flash,
            long ram) {}
}
