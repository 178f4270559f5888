// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.state;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.farm.desk.Hold;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.desk.Labels.WorkerLabels;
import io.kiln.farm.desk.Taker;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmInbox;
import io.kiln.farm.link.FarmInbox.Received;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmMember;
import io.kiln.farm.link.FarmMessage.FarmOrder;
import io.kiln.farm.link.FarmQueues;
import io.kiln.farm.state.FarmKeeper.WorkerNews;
import io.kiln.farm.state.FarmKeeper.WorkerNews.Offered;
import io.kiln.farm.state.FarmKeeper.WorkerNews.Running;
import io.kiln.farm.state.FarmState.Seen;
import io.kiln.report.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The state of a farm, as in {@code farm.json}.
 *
 * @param farm where its broker listens
 * @param time in ISO form
 * @param desk what decides which job goes where
 * @param workers in the order of their names
 * @param queues messages by queue
 * @param failures the last ones, the newest first
 */
public record FarmState(
        String farm, String time, Desk desk, List<Seen> workers, List<Queue> queues, List<FarmFailure> failures) {
    public FarmState {
        workers = List.copyOf(workers);
        queues = List.copyOf(queues);
        failures = List.copyOf(failures);
    }

    /**
     * What the broker knows beside its queues.
     *
     * @param version of its Kiln
     * @param oldestSeconds how long the oldest job has been waiting; 0 if none is
     * @param held workers and boards that get no jobs
     */
    public record Desk(String version, long oldestSeconds, List<Hold> held) {
        public Desk {
            held = List.copyOf(held);
        }
    }

    /**
     * A worker.
     *
     * @param seconds since it was heard of
     * @param news what it said
     */
    public record Seen(long seconds, WorkerNews news) {}

    /**
     * A queue.
     *
     * @param name its name
     * @param messages that wait or are being worked on
     */
    public record Queue(String name, long messages) {}

    /**
     * What a farm can run images of one board on: a board, or the emulators of a worker.
     *
     * @param worker whose it is
     * @param offer what the worker says of it
     * @param slots its names in the worker: the probe, or the numbers of the emulators
     * @param labels of the worker and its boards
     * @param trouble why it gets no jobs; empty if it gets some
     */
    public record FarmUnit(String worker, Offered offer, List<String> slots, WorkerLabels labels, String trouble) {
        private static final String READY = "ready";
        private static final int MOST_SHOWN = 20;

        /** A worker may say what it likes; its further emulators do not count. */
        private static final int MOST_SLOTS = 256;

        public FarmUnit {
            slots = List.copyOf(slots);
        }

        /** All units of a farm, in the order of their boards. */
        public static List<FarmUnit> of(FarmState state) {
            Map<String, Hold> held = new HashMap<>();
            state.desk().held().forEach(hold -> held.put(hold.unit(), hold));
            return state.workers().stream()
                    .flatMap(seen -> of(seen.news(), held))
                    .sorted((one, other) -> one.text().compareTo(other.text()))
                    .toList();
        }

        private static Stream<FarmUnit> of(WorkerNews news, Map<String, Hold> held) {
            WorkerLabels labels = labels(news);
            List<String> emulators = IntStream.range(0, Math.min(MOST_SLOTS, news.slots()))
                    .mapToObj(String::valueOf)
                    .toList();
            return news.offers().stream().map(offer -> {
                List<String> slots = offer.probe().isEmpty() ? emulators : List.of(FarmMember.plain(offer.probe()));
                Optional<Hold> hold = Optional.ofNullable(held.get(news.name()))
                        .or(() -> slots.size() == 1
                                ? Optional.ofNullable(held.get(news.name() + "/" + slots.get(0)))
                                : Optional.empty());
                String trouble = hold.map(why -> (why.isQuarantine() ? "in quarantine: " : "held: ") + why.reason())
                        .orElse(offer.state().equals(READY) ? "" : offer.state());
                return new FarmUnit(news.name(), offer, slots, labels, trouble);
            });
        }

        /** Nothing of what is no label counts. */
        private static WorkerLabels labels(WorkerNews news) {
            try {
                return news.labels();
            } catch (KilnException e) {
                return WorkerLabels.NONE;
            }
        }

        /** Whether it runs at a place, and has labels. */
        public boolean fits(String place, Labels needs) {
            return offer.place().equals(place) && !takers(needs).isEmpty();
        }

        /** Its slots that have labels. */
        private List<String> takers(Labels needs) {
            return slots.stream()
                    .filter(slot -> labels.have(
                            new Taker(worker, slot, offer.place(), Set.of(offer.board())), offer.board(), needs))
                    .toList();
        }

        /** The boards and emulators of workers that may have a job. */
        public static List<FarmMember> takers(Collection<FarmUnit> units, String board, String place, Labels needs) {
            return units.stream()
                    .filter(unit -> unit.offer.board().equals(board)
                            && unit.offer.place().equals(place))
                    .flatMap(unit -> unit.takers(needs).stream().map(slot -> new FarmMember("", unit.worker, slot)))
                    .distinct()
                    .toList();
        }

        /** The units at some places, as a clause for people. */
        public static String there(Collection<FarmUnit> units, Collection<String> places) {
            List<String> texts = units.stream()
                    .filter(unit -> places.contains(unit.offer().place()))
                    .map(FarmUnit::text)
                    .toList();
            String shown = texts.stream().limit(MOST_SHOWN).collect(Collectors.joining(", "));
            return texts.isEmpty()
                    ? "there is nothing at all that could"
                    : "there are " + shown
                            + (texts.size() > MOST_SHOWN ? " and " + (texts.size() - MOST_SHOWN) + " more" : "");
        }

        /** The unit for people, as in {@code nucleo-f446re (board, worker bench, probe 0669FF, silicon=real)}. */
        public String text() {
            String all = Stream.of(offer.labels(), labels.own().text())
                    .filter(text -> !text.isEmpty())
                    .collect(Collectors.joining(","));
            return offer.board() + " (" + offer.place() + ", worker " + worker
                    + (offer.probe().isEmpty() ? "" : ", probe " + offer.probe())
                    + (all.isEmpty() ? "" : ", " + all)
                    + (trouble.isEmpty() ? "" : ", " + trouble) + ")";
        }
    }

    /** The state of a farm as lines for a console. */
    public static final class FarmText {
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
                    .forEach(failure ->
                            lines.add("Failed: job " + shortId(failure.job()) + " for " + failure.board() + " ("
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
                    + (news.about().labels().isEmpty()
                            ? ""
                            : ", " + news.about().labels())
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

    /** Asks a farm what it does. */
    public static final class FarmQuestion {
        private static final Duration PATIENCE = Duration.ofSeconds(10);

        private FarmQuestion() {}

        /**
         * The state of a farm.
         *
         * @throws KilnException if its broker cannot be reached, or refuses this member, or nobody keeps the state
         */
        public static FarmState ask(FarmAddress address) {
            return ask(address, FarmOrder.STATE, "", "");
        }

        /**
         * The state of a farm after an order.
         *
         * @param unit what it is about, {@code WORKER} or {@code WORKER/PROBE}
         * @param why a reason for people
         * @throws KilnException as above
         */
        public static FarmState ask(FarmAddress address, FarmOrder order, String unit, String why) {
            if (address.isForeign() && (order == FarmOrder.HOLD || order == FarmOrder.RELEASE)) {
                throw Failure.FARM.exception(
                        "a broker of another make gives jobs to whoever asks for them, so no worker can be held",
                        address.url(),
                        "Kiln's own broker",
                        "Stop " + unit + ": it finishes nothing, and its jobs go to others");
            }
            String id = FarmJob.newId();
            try (FarmLink link = FarmLink.open(address);
                    FarmInbox inbox = link.inbox(FarmQueues.ANSWERS, FarmQueues.CLIENT + " = '" + id + "'")) {
                order.send(link, id, unit, why);
                Received answer = inbox.receive(PATIENCE)
                        .orElseThrow(() -> Failure.FARM.exception(
                                "nobody answers for the farm", address.url(), "a broker that kiln:farm started"));
                answer.done().run();
                return Json.parse(answer.message().body().text(), FarmState.class);
            }
        }
    }
}
