// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import io.kiln.report.Json.OrNull;
import java.util.List;
import java.util.Locale;

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
    public record Sizes(long instructions, @OrNull Long cycles, long flash, long ram) {}

    /**
     * What a search proposes to a team, beside the log with the records: a line for each model that gains. Each was built with and without the proposed
     * records, and answered bit for bit as the reference interpreter in both.
     *
     * @param models in the order of projects and models
     */
    public record ProposalReport(List<Model> models) {
        public ProposalReport {
            models = List.copyOf(models);
        }

        /**
         * A model that gains.
         *
         * @param project whose model it is
         * @param board id of the board
         * @param model its name
         * @param objective what became smaller
         * @param records how many of the proposed records it follows
         * @param gain of the objective, in percent
         * @param before with the records that were there
         * @param after with the proposed ones
         */
        public record Model(
                String project,
                String board,
                String model,
                String objective,
                int records,
                double gain,
                TuneReport.Sizes before,
                TuneReport.Sizes after) {}

        /** A table in Markdown, for the text of a commit or a request to merge it. */
        public String markdown() {
            StringBuilder text = new StringBuilder("""
                | project | model | board | objective | gain | cycles | instructions | flash | RAM |
                |---|---|---|---|---|---|---|---|---|
                """);
            for (Model model : models) {
                text.append(String.format(
                        Locale.ROOT,
                        "| %s | %s | %s | %s | %.1f %% | %s | %s | %s | %s |%n",
                        model.project(),
                        model.model(),
                        model.board(),
                        model.objective(),
                        model.gain(),
                        model.before().cycles() == null || model.after().cycles() == null
                                ? ""
                                : change(model.before().cycles(), model.after().cycles()),
                        change(model.before().instructions(), model.after().instructions()),
                        change(model.before().flash(), model.after().flash()),
                        change(model.before().ram(), model.after().ram())));
            }
            return text.toString().replace("\r\n", "\n");
        }

        private static String change(long before, long after) {
            return before == after
                    ? String.format(Locale.ROOT, "%,d", after)
                    : String.format(Locale.ROOT, "%,d → %,d", before, after);
        }
    }
}
