// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.page;

import io.kiln.farm.state.FarmFailure;
import io.kiln.farm.state.FarmState;
import io.kiln.farm.state.FarmState.Seen;
import io.kiln.farm.state.WorkerNews.Offered;
import io.kiln.farm.state.WorkerNews.Running;
import java.util.stream.Collectors;

/** The state of a farm as one self-contained page, which loads itself again every few seconds. */
public final class FarmPage {
    private static final String HEAD = "<meta charset=\"utf-8\"/>\n";

    private FarmPage() {}

    /**
     * Prints the page of a farm.
     *
     * @param seconds after which a browser loads it again; 0 for never
     */
    public static String of(FarmState state, int seconds) {
        String head = Xhtml.head("Farm " + state.farm());
        StringBuilder out = new StringBuilder(
                seconds == 0
                        ? head
                        : head.replace(HEAD, HEAD + "<meta http-equiv=\"refresh\" content=\"" + seconds + "\"/>\n"));
        out.append("<h1>Farm ").append(Xhtml.escape(state.farm())).append("</h1>\n");
        out.append("<p class=\"note\">As of ")
                .append(Xhtml.escape(state.time()))
                .append("</p>\n");
        return out.append(queues(state))
                .append(workers(state))
                .append(boards(state))
                .append(jobs(state))
                .append(failures(state))
                .append(Xhtml.foot())
                .toString();
    }

    private static String queues(FarmState state) {
        HtmlTable table = new HtmlTable("Queues", 1, "Queue", "Messages");
        state.queues().forEach(queue -> table.row("", queue.name(), String.valueOf(queue.messages())));
        return table.text();
    }

    private static String workers(FarmState state) {
        HtmlTable table = new HtmlTable(
                "Workers", 3, "Worker", "Host", "Emulates", "At once", "Done", "Failed", "Heard of (s ago)");
        for (Seen seen : state.workers()) {
            table.row(
                    "",
                    seen.news().name(),
                    seen.news().host() + ", process " + seen.news().process(),
                    seen.news().offers().stream()
                            .filter(offer -> offer.probe().isEmpty())
                            .map(Offered::board)
                            .collect(Collectors.joining(", ")),
                    String.valueOf(seen.news().slots()),
                    String.valueOf(seen.news().jobs().done()),
                    String.valueOf(seen.news().jobs().failed()),
                    String.valueOf(seen.seconds()));
        }
        return orNone(table, "No worker. Start one with kiln:worker.");
    }

    private static String boards(FarmState state) {
        HtmlTable table = new HtmlTable("Boards", 4, "Board", "Core", "Probe", "Worker", "State");
        for (Seen seen : state.workers()) {
            seen.news().offers().stream()
                    .filter(offer -> !offer.probe().isEmpty())
                    .forEach(offer -> table.row(
                            "",
                            offer.board(),
                            offer.core(),
                            offer.probe(),
                            seen.news().name(),
                            offer.state()));
        }
        return orNone(table, "No board is plugged in anywhere.");
    }

    private static String jobs(FarmState state) {
        HtmlTable table = new HtmlTable("Running jobs", 4, "Job", "Board", "Place", "Worker", "Seconds");
        for (Seen seen : state.workers()) {
            for (Running job : seen.news().running()) {
                table.row("", job.job(), job.board(), job.place(), seen.news().name(), String.valueOf(job.seconds()));
            }
        }
        return orNone(table, "No job is running.");
    }

    private static String failures(FarmState state) {
        HtmlTable table = new HtmlTable("Failures", 5, "Job", "Board", "Place", "Worker", "Reason", "Time");
        for (FarmFailure failure : state.failures()) {
            table.row(
                    "bad",
                    failure.job(),
                    failure.board(),
                    failure.place(),
                    failure.worker(),
                    failure.reason(),
                    failure.time());
        }
        return orNone(table, "None.");
    }

    private static String orNone(HtmlTable table, String otherwise) {
        return table.hasRows() ? table.text() : table.heading() + "<p class=\"note\">" + otherwise + "</p>\n";
    }
}
