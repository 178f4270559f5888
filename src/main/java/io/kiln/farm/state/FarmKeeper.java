// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.state;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.farm.job.FarmAnswer.GivenUp;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.job.FarmResult;
import io.kiln.farm.job.ResultFormat;
import io.kiln.farm.link.FarmInbox;
import io.kiln.farm.link.FarmInbox.Received;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmLost;
import io.kiln.farm.link.FarmMessage;
import io.kiln.farm.link.FarmMessage.Manner;
import io.kiln.farm.link.FarmQueues;
import io.kiln.report.Json;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

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
    private final String farm;
    private final Clock clock;
    private final Map<String, Heard> workers = new TreeMap<>();
    private final AtomicBoolean isClosed = new AtomicBoolean();
    private final List<Thread> threads = new ArrayList<>();

    private record Heard(Instant when, WorkerNews news) {}

    /**
     * @param links opens connections to the broker
     * @param farm where it listens
     */
    public FarmKeeper(Supplier<FarmLink> links, String farm, Clock clock) {
        this.links = links;
        this.farm = farm;
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

    /** Receives from a queue until the broker ends: it is in the same process, and gone when it is lost. */
    private void receive(String queue, BiConsumer<FarmLink, Received> handler) {
        try (FarmLink link = links.get();
                FarmInbox inbox = link.inbox(queue, "")) {
            while (!isClosed.get()) {
                inbox.receive(POLL).ifPresent(received -> {
                    handler.accept(link, received);
                    received.done().run();
                });
            }
        } catch (FarmLost e) {
            isClosed.set(true);
        }
    }

    private void hear(Received received) {
        Bytes body = received.message().body();
        if (body.size() > LONGEST_NEWS) {
            return;
        }
        try {
            WorkerNews news = Json.parse(body.text(), WorkerNews.class);
            synchronized (workers) {
                forgetSilent();
                if (workers.size() < MOST_WORKERS || workers.containsKey(news.name())) {
                    workers.put(news.name(), new Heard(clock.instant(), news));
                }
            }
        } catch (KilnException e) {
            // The sender has another version of Kiln, or sends nonsense.
            return;
        }
    }

    private void forgetSilent() {
        Instant since = clock.instant().minus(SILENCE);
        workers.values().removeIf(heard -> heard.when().isBefore(since));
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
            FarmResult result = new FarmResult(job, "", "", new GivenUp(FarmQueues.TRIES));
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
        if (FarmJob.isId(id)) {
            link.send(
                    FarmQueues.ANSWERS,
                    new FarmMessage(
                            Map.of(FarmQueues.CLIENT, id),
                            Bytes.ofText(Json.line(state(link))),
                            Manner.fleeting(Duration.ofMinutes(1))));
        }
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
        List<FarmState.Queue> queues = Stream.of(FarmQueues.JOBS, FarmQueues.ANSWERS, FarmQueues.DEAD)
                .map(name -> new FarmState.Queue(name, link.count(name)))
                .toList();
        List<FarmFailure> failures = new ArrayList<>();
        link.browse(FarmQueues.FAILURES, FAILURES)
                .forEach(message -> failure(message).ifPresent(failures::add));
        Collections.reverse(failures);
        return new FarmState(farm, now(), seen, queues, failures);
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
}
