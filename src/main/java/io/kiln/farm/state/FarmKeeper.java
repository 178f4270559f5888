// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.state;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.farm.desk.FarmDesk;
import io.kiln.farm.desk.FarmEvent;
import io.kiln.farm.desk.FarmEvent.Kind;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.desk.Labels.WorkerLabels;
import io.kiln.farm.job.FarmAnswer.FarmResult;
import io.kiln.farm.job.FarmAnswer.GivenUp;
import io.kiln.farm.job.FarmAnswer.ResultFormat;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmInbox;
import io.kiln.farm.link.FarmInbox.Received;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmLink.FarmLost;
import io.kiln.farm.link.FarmMember;
import io.kiln.farm.link.FarmMessage;
import io.kiln.farm.link.FarmMessage.FarmOrder;
import io.kiln.farm.link.FarmMessage.FarmOrder.Asked;
import io.kiln.farm.link.FarmMessage.Manner;
import io.kiln.farm.link.FarmQueues;
import io.kiln.report.Json;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/**
 * Lives beside the broker: hears what workers say, tells those who wait for a job that killed its workers that it was given up, and answers
 * questions about the farm's state.
 */
public final class FarmKeeper implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(500);
    private static final Duration ANSWER_KEPT = Duration.ofDays(1);
    private static final Duration FAILURE_KEPT = Duration.ofDays(7);
    private static final Duration SILENCE = Duration.ofSeconds(20);
    private static final int LONGEST_NEWS = 64 << 10;
    private static final int MOST_WORKERS = 1000;
    private static final int FAILURES = 100;

    private final Supplier<FarmLink> links;
    private final boolean isEmbedded;
    private final String farm;
    private final FarmDesk desk;
    private final String version;
    private final Clock clock;
    private final Set<String> otherVersions = new HashSet<>();
    private final Map<String, Heard> workers = new TreeMap<>();
    private final AtomicBoolean isClosed = new AtomicBoolean();
    private final List<Thread> threads = new ArrayList<>();

    private record Heard(Instant when, WorkerNews news) {}

    /**
     * @param links opens connections to the broker
     * @param desk of the broker
     * @param farm where it listens
     * @param version of this Kiln
     */
    public FarmKeeper(Supplier<FarmLink> links, FarmDesk desk, String farm, String version, Clock clock) {
        this(links, true, desk, farm, version, clock);
    }

    /**
     * For a broker of another make, which runs somewhere else: looks for it again whenever it is lost.
     *
     * @param desk hears what happens; the broker does not ask it who may have a job
     */
    public static FarmKeeper outside(FarmAddress broker, FarmDesk desk, String version, Clock clock) {
        return new FarmKeeper(() -> FarmLink.open(broker), false, desk, broker.url(), version, clock);
    }

    private FarmKeeper(
            Supplier<FarmLink> links, boolean isEmbedded, FarmDesk desk, String farm, String version, Clock clock) {
        this.links = links;
        this.isEmbedded = isEmbedded;
        this.desk = desk;
        this.farm = farm;
        this.version = version;
        this.clock = clock;
    }

    /** Starts to listen. */
    public FarmKeeper start() {
        listen(FarmQueues.NEWS, (link, received) -> hear(received));
        listen(FarmQueues.DEAD, this::giveUp);
        listen(FarmQueues.QUESTIONS, this::answer);
        return this;
    }

    private void listen(String queue, BiConsumer<FarmLink, Received> handler) {
        Thread thread = new Thread(() -> receive(queue, handler), "farm-keeper-" + queue);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    private void receive(String queue, BiConsumer<FarmLink, Received> handler) {
        boolean isThere = false;
        while (!isClosed.get()) {
            try (FarmLink link = links.get();
                    FarmInbox inbox = link.inbox(queue, "")) {
                isThere = tell(queue, isThere, true, "");
                while (!isClosed.get()) {
                    inbox.receive(POLL).ifPresent(received -> {
                        handle(link, received, handler);
                        received.done().run();
                    });
                }
            } catch (FarmLost e) {
                if (isEmbedded) {
                    // It is in the same process, and gone when it is lost.
                    isClosed.set(true);
                } else {
                    isThere = tell(queue, isThere, false, e.problems().get(0).what());
                    pause();
                }
            }
        }
    }

    /** Tells once that a broker outside is there, or is not. */
    private boolean tell(String queue, boolean wasThere, boolean isThere, String reason) {
        if (!isEmbedded && queue.equals(FarmQueues.NEWS) && wasThere != isThere) {
            desk.tell(FarmEvent.of(isThere ? Kind.BROKER_FOUND : Kind.BROKER_LOST)
                    .with("broker", farm)
                    .with("reason", reason));
        }
        return isThere;
    }

    private void pause() {
        try {
            Thread.sleep(POLL.toMillis());
        } catch (InterruptedException e) {
            isClosed.set(true);
            Thread.currentThread().interrupt();
        }
    }

    /** A message that cannot be handled, whatever the reason, does not keep the next ones from being. */
    private void handle(FarmLink link, Received received, BiConsumer<FarmLink, Received> handler) {
        try {
            handler.accept(link, received);
        } catch (FarmLost e) {
            throw e;
        } catch (RuntimeException e) {
            desk.tell(FarmEvent.of(Kind.NEWS_REFUSED).with("reason", String.valueOf(e.getMessage())));
        }
    }

    private void hear(Received received) {
        Bytes body = received.message().body();
        try {
            if (body.size() > LONGEST_NEWS) {
                throw Failure.FARM.exception("news of " + body.size() + " bytes", "");
            }
            hear(Json.parse(body.text(), WorkerNews.class));
        } catch (KilnException e) {
            desk.tell(FarmEvent.of(Kind.NEWS_REFUSED)
                    .with(
                            "reason",
                            "news of a worker with another version of Kiln than " + version + ", or of nobody: "
                                    + e.problems().get(0).what()));
        }
    }

    private void hear(WorkerNews news) {
        WorkerLabels labels = news.labels();
        synchronized (workers) {
            forgetSilent();
            boolean isKnown = workers.containsKey(news.name());
            if (workers.size() >= MOST_WORKERS && !isKnown) {
                return;
            }
            Heard before = workers.put(news.name(), new Heard(clock.instant(), news));
            desk.heard(news.name(), labels);
            if (before == null
                    || before.news().about().process() != news.about().process()) {
                desk.tell(FarmEvent.of(Kind.WORKER_JOINED)
                        .with("worker", news.name())
                        .with("host", news.about().host())
                        .with("version", news.about().version()));
                compare("worker " + news.name(), news.about().version());
            }
        }
    }

    /** Says once that somebody has another version of Kiln than the broker. */
    private void compare(String who, String other) {
        if (!other.equals(version) && otherVersions.size() < MOST_WORKERS && otherVersions.add(who + " " + other)) {
            desk.tell(FarmEvent.of(Kind.OTHER_VERSION)
                    .with("who", who)
                    .with("version", other)
                    .with("broker", version)
                    .with("upgrade", Versions.isOlder(other, version) ? who : "broker"));
        }
    }

    private void forgetSilent() {
        Instant since = clock.instant().minus(SILENCE);
        workers.values().removeIf(heard -> {
            boolean isSilent = heard.when().isBefore(since);
            if (isSilent) {
                desk.silent(heard.news().name());
                desk.tell(FarmEvent.of(Kind.WORKER_LEFT)
                        .with("worker", heard.news().name())
                        .with("version", heard.news().about().version()));
            }
            return isSilent;
        });
    }

    private void giveUp(FarmLink link, Received received) {
        FarmMessage dead = received.message();
        String job = dead.property(FarmQueues.JOB);
        fail(
                link,
                new FarmFailure(
                        job,
                        dead.property(FarmQueues.BOARD),
                        dead.property(FarmQueues.PLACE),
                        "",
                        now(),
                        "given up: the workers that tried it died"));
        if (FarmJob.isId(job) && FarmJob.isId(dead.property(FarmQueues.CLIENT))) {
            FarmResult result = new FarmResult(job, "", "", "", new GivenUp(FarmQueues.TRIES));
            link.send(
                    FarmQueues.ANSWERS,
                    new FarmMessage(
                            Map.of(FarmQueues.JOB, job, FarmQueues.CLIENT, dead.property(FarmQueues.CLIENT)),
                            ResultFormat.write(result),
                            Manner.once(job, ANSWER_KEPT)));
        }
    }

    /** Adds to the list of failures. */
    public static void fail(FarmLink link, FarmFailure failure) {
        link.send(
                FarmQueues.FAILURES,
                new FarmMessage(Map.of(), Bytes.ofText(Json.line(failure)), Manner.fleeting(FAILURE_KEPT)));
    }

    private void answer(FarmLink link, Received received) {
        String id = received.message().property(FarmQueues.CLIENT);
        Optional<Asked> asked = FarmOrder.read(received.message().body());
        if (!FarmJob.isId(id) || asked.isEmpty()) {
            desk.tell(FarmEvent.of(Kind.NEWS_REFUSED).with("reason", "not an order of this version of Kiln"));
            return;
        }
        FarmOrder order = asked.get().order();
        String what = asked.get().what();
        String why = asked.get().why();
        switch (order) {
            case HOLD -> desk.hold(what, false, why);
            case RELEASE -> desk.release(what);
            case COMPLAIN -> {
                if (isEmbedded) {
                    desk.complaint(id, what, why);
                } else {
                    // Nobody but the client knows whose answer it was.
                    refused(FarmQueues.ANSWERS, why + ", job " + what);
                }
            }
            case REFUSE -> refused(what, why);
            case STATE -> {}
        }
        if (order != FarmOrder.COMPLAIN && order != FarmOrder.REFUSE) {
            link.send(
                    FarmQueues.ANSWERS,
                    new FarmMessage(
                            Map.of(FarmQueues.CLIENT, id),
                            Bytes.ofText(Json.line(state(link))),
                            Manner.fleeting(Duration.ofMinutes(1))));
        }
    }

    private void refused(String queue, String why) {
        desk.tell(FarmEvent.of(queue.equals(FarmQueues.ANSWERS) ? Kind.ANSWER_REFUSED : Kind.NEWS_REFUSED)
                .with("queue", queue)
                .with("reason", why));
    }

    /** The current state of the farm. */
    public FarmState state() {
        try (FarmLink link = links.get()) {
            return state(link);
        }
    }

    private FarmState state(FarmLink link) {
        List<FarmState.Seen> seen = new ArrayList<>();
        synchronized (workers) {
            forgetSilent();
            workers.values()
                    .forEach(heard -> seen.add(new FarmState.Seen(
                            Duration.between(heard.when(), clock.instant()).toSeconds(), heard.news())));
        }
        List<FarmState.Queue> queues = new ArrayList<>();
        for (String name : List.of(FarmQueues.JOBS, FarmQueues.ANSWERS, FarmQueues.DEAD)) {
            link.count(name).ifPresent(count -> queues.add(new FarmState.Queue(name, count)));
        }
        List<FarmFailure> failures = new ArrayList<>();
        link.browse(FarmQueues.FAILURES, FAILURES)
                .forEach(message -> failure(message).ifPresent(failures::add));
        Collections.reverse(failures);
        return new FarmState(
                farm, now(), new FarmState.Desk(version, desk.oldestSeconds(), desk.held()), seen, queues, failures);
    }

    /** The failure in a message; empty if the sender has another version of Kiln, or sends nonsense. */
    private static Optional<FarmFailure> failure(FarmMessage message) {
        try {
            return Optional.of(Json.parse(message.body().text(), FarmFailure.class));
        } catch (KilnException e) {
            return Optional.empty();
        }
    }

    private String now() {
        return clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /** Stops listening. */
    @Override
    public void close() {
        isClosed.set(true);
        for (Thread thread : threads) {
            try {
                thread.join(POLL.toMillis() * 4);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /** Compares versions of Kiln. */
    private static final class Versions {
        private Versions() {}

        /** Whether one is older than another, by their numbers; a version with a word such as {@code SNAPSHOT} is older than the one without. */
        static boolean isOlder(String one, String other) {
            String[] left = one.split("[.-]", -1);
            String[] right = other.split("[.-]", -1);
            for (int i = 0; i < Math.min(left.length, right.length); i++) {
                int order = Integer.compare(number(left[i]), number(right[i]));
                if (order != 0) {
                    return order < 0;
                }
            }
            return left.length != right.length
                    && number(left.length > right.length ? left[right.length] : right[left.length]) < 0
                            == left.length > right.length;
        }

        /** A part's number; less than all numbers if it is none. */
        private static int number(String part) {
            return part.matches("[0-9]{1,6}") ? Integer.parseInt(part) : -1;
        }
    }

    /**
     * A worker's report on itself, sent every few seconds as JSON.
     *
     * @param name unique in the farm
     * @param about what runs it, and where
     * @param slots how many emulators run at once
     * @param jobs how many it answered
     * @param offers what it has
     * @param running jobs that it runs now
     * @param histories what its boards have been through
     */
    public record WorkerNews(
            String name,
            About about,
            int slots,
            Jobs jobs,
            List<Offered> offers,
            List<Running> running,
            List<BoardHistory> histories) {
        public WorkerNews {
            offers = List.copyOf(offers);
            running = List.copyOf(running);
            histories = List.copyOf(histories);
        }

        /**
         * Its labels, and those of its boards.
         *
         * @throws io.kiln.base.KilnException if they are no labels
         */
        WorkerLabels labels() {
            Map<String, Labels> slots = new TreeMap<>();
            offers.stream()
                    .filter(offer -> !offer.labels().isEmpty())
                    .forEach(offer -> slots.put(
                            FarmMember.plain(offer.probe()), Labels.parse("labels of " + name, offer.labels())));
            return new WorkerLabels(Labels.parse("labels of " + name, about.labels()), slots);
        }

        /**
         * What runs a worker, and where.
         *
         * @param version of its Kiln
         * @param labels as in {@code silicon=real,room=3}; empty if it has none
         * @param host name of its computer
         * @param process its process id there
         */
        public record About(String version, String labels, String host, long process) {}

        /**
         * Jobs of a worker.
         *
         * @param done those that it answered
         * @param failed those of them that failed
         */
        public record Jobs(long done, long failed) {}

        /**
         * A board that a worker emulates or has.
         *
         * @param board its id
         * @param core such as {@code cortex-m4}
         * @param place {@code emulator} or {@code board}
         * @param probe serial number of the probe; empty for an emulator
         * @param state {@code ready}, or {@code leased elsewhere}
         * @param labels of the board itself; empty if it has none
         */
        public record Offered(String board, String core, String place, String probe, String state, String labels) {}

        /**
         * A job that runs.
         *
         * @param job its id
         * @param board id of the board
         * @param place {@code emulator} or {@code board}
         * @param seconds since it was begun
         */
        public record Running(String job, String board, String place, long seconds) {}
    }
}
