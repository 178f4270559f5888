// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.state;

import io.kiln.farm.state.FarmState.Seen;
import io.kiln.farm.state.WorkerNews.Offered;
import io.kiln.farm.state.WorkerNews.Running;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The state of a farm as lines for a console. */
public final class FarmText {
    private static final int FAILURES_SHOWN = 5;
    private static final int SHORT_ID = 8;

    private FarmText() {}

    /** The state as lines; those of the queues come first. */
    public static List<String> lines(FarmState state) {
        List<String> lines = new ArrayList<>();
        lines.add("Farm " + state.farm() + ": "
                + (state.queues().isEmpty() ? "its broker does not say how many messages wait" : queues(state))
                + (state.desk().oldestSeconds() > 0
                        ? ", the oldest has waited for " + state.desk().oldestSeconds() + " s"
                        : "")
                + ", Kiln " + state.desk().version());
        state.desk()
                .held()
                .forEach(hold -> lines.add("No jobs for " + hold.unit() + " since " + hold.since()
                        + (hold.isQuarantine() ? ", in quarantine: " : ": ") + hold.reason()));
        if (state.workers().isEmpty()) {
            lines.add("No worker; start one with kiln:worker");
        }
        for (Seen seen : state.workers()) {
            worker(lines, seen.news());
        }
        state.failures().stream()
                .limit(FAILURES_SHOWN)
                .forEach(failure -> lines.add("Failed: job " + shortId(failure.job()) + " for " + failure.board() + " ("
                        + failure.place() + ") at " + failure.time() + ": "
                        + failure.reason().lines().findFirst().orElse("")));
        return lines;
    }

    private static String text(BoardHistory history) {
        BoardHistory.Counts counts = history.counts();
        String failure = history.last().failure().lines().findFirst().orElse("");
        return "  board " + history.board() + ", probe " + history.probe() + ", since " + history.since() + ": "
                + counts.jobs() + " jobs, " + counts.failures() + " failed, flashed " + counts.flashes()
                + " times, power cycled " + counts.powerCycles() + " times"
                + (failure.isEmpty() ? "" : ", last failure: " + failure);
    }

    /** How many messages wait; empty if the broker does not say. */
    public static String queues(FarmState state) {
        return state.queues().stream()
                .map(queue -> queue.messages() + " in " + queue.name())
                .collect(Collectors.joining(", "));
    }

    private static void worker(List<String> lines, WorkerNews news) {
        lines.add("Worker " + news.name() + " on " + news.about().host() + ", process "
                + news.about().process() + ", Kiln " + news.about().version()
                + (news.about().labels().isEmpty() ? "" : ", " + news.about().labels())
                + ": "
                + news.jobs().done() + " jobs done, " + news.jobs().failed() + " of them failed");
        String emulators = news.offers().stream()
                .filter(offer -> offer.probe().isEmpty())
                .map(Offered::board)
                .collect(Collectors.joining(", "));
        if (!emulators.isEmpty()) {
            lines.add("  emulates, " + news.slots() + " at once: " + emulators);
        }
        news.offers().stream()
                .filter(offer -> !offer.probe().isEmpty())
                .forEach(offer -> lines.add("  board " + offer.board() + ", probe " + offer.probe()
                        + (offer.labels().isEmpty() ? "" : ", " + offer.labels()) + ": " + offer.state()));
        news.histories().forEach(history -> lines.add(text(history)));
        for (Running running : news.running()) {
            lines.add("  runs job " + shortId(running.job()) + " for " + running.board() + " (" + running.place()
                    + "), " + running.seconds() + " s so far");
        }
    }

    private static String shortId(String id) {
        return id.length() <= SHORT_ID ? id : id.substring(0, SHORT_ID);
    }
}
