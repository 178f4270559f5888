// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import java.util.List;
import java.util.Locale;

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
