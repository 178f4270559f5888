// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.farm;

import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.base.Log;
import io.kiln.farm.client.FarmClient;
import io.kiln.farm.client.FarmClient.JobTerms;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.job.FarmAnswer;
import io.kiln.farm.job.FarmAnswer.Outputs;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.job.FarmJob.FarmTask;
import io.kiln.farm.job.RunPlace;
import io.kiln.farm.lease.BoardLeases;
import io.kiln.farm.worker.Worker;
import io.kiln.farm.worker.WorkerSetup;
import io.kiln.farm.worker.WorkerSetup.Identity;
import io.kiln.farm.worker.WorkerSetup.JobRunner;
import io.kiln.farm.worker.WorkerSetup.Offer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A farm whose boards are stubs: broker, connections, desk, leases and clients are the real ones, and a board waits for some time and answers with
 * the digest of its input. Its broker is a process of its own, its workers and clients are in this one.
 */
final class ScaledFarm implements AutoCloseable {
    static final int KINDS_OF_BOARDS = 2;

    /** Rooms in which there are boards of each kind. */
    static final int ROOMS = 2;

    private static final int BOARDS_OF_A_WORKER = 5;
    private static final Pattern FIELD = Pattern.compile(" ([a-z]+)=([^ ]+)");

    private final Path folder;
    private final int heap;
    private final List<AutoCloseable> open = new ArrayList<>();
    private BrokerProgram broker;

    /**
     * Starts a broker without workers.
     *
     * @param heap its largest heap in MB
     */
    ScaledFarm(Path folder, int heap) {
        this.folder = folder;
        this.heap = heap;
        this.broker = BrokerProgram.fork(List.of(), "tcp://localhost:0", queues(), "", 0, heap);
    }

    Path queues() {
        return folder.resolve("farm");
    }

    BrokerProgram broker() {
        return broker;
    }

    /** Kills the broker, and starts another one on its folder and port. */
    void killBroker() {
        String url = broker.address().url();
        broker.close();
        broker = BrokerProgram.fork(List.of(), url, queues(), "", 0, heap);
    }

    /** Starts workers with five boards each, all of one kind. */
    void plug(int boards, Supplier<Duration> delay) {
        for (int i = 0; i * BOARDS_OF_A_WORKER < boards; i++) {
            String name = "w" + i;
            String kind = "kind-" + i % KINDS_OF_BOARDS;
            List<Offer> offers = new ArrayList<>();
            for (int j = i * BOARDS_OF_A_WORKER; j < Math.min(boards, (i + 1) * BOARDS_OF_A_WORKER); j++) {
                offers.add(Offer.board(kind, "stub", "probe-" + j));
            }
            BoardLeases leases = new BoardLeases(folder.resolve(name), Clock.systemUTC(), BoardLeases.USUAL_TERM);
            Identity identity = new Identity(name, "1.0.0", Labels.parse("", "room=" + i / KINDS_OF_BOARDS % ROOMS));
            open.add(Worker.start(
                    new WorkerSetup(broker.address(), identity, offers, 0, leases), runner(name, delay), Log.QUIET));
        }
    }

    private static JobRunner runner(String name, Supplier<Duration> delay) {
        return (job, offer) -> {
            try {
                Thread.sleep(delay.get().toMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            Bytes input = ((FarmTask.Run) job.task()).calls().get(0).inputs().get(0);
            List<Outputs> outputs = List.of(new Outputs(List.of(answer(input))));
            return new JobRunner.Done(name, new FarmAnswer.Ran(List.of(), outputs, List.of(), OptionalLong.empty()));
        };
    }

    private static Bytes answer(Bytes input) {
        return Bytes.ofText(Digests.sha256(input.toArray()));
    }

    /** A job for a kind of board. */
    static FarmJob job(int kind, String text, Bytes image) {
        return FarmJob.of(
                "kind-" + kind,
                RunPlace.BOARD,
                Duration.ofMinutes(1),
                image,
                new FarmTask.Run(List.of(new FarmTask.Call(0, List.of(Bytes.ofText(text))))));
    }

    /** Whether an answer is the one to a text. */
    static boolean isRight(FarmAnswer answer, String text) {
        return answer instanceof FarmAnswer.Ran ran
                && ran.runs().equals(List.of(new Outputs(List.of(answer(Bytes.ofText(text))))));
    }

    FarmClient client(String project, int priority, String needs) {
        JobTerms terms = new JobTerms(Duration.ofMinutes(10), project, priority, Labels.parse("", needs), "1.0.0");
        FarmClient client = FarmClient.connect(broker.address(), terms, Log.QUIET);
        open.add(client);
        return client;
    }

    /**
     * Something that the broker's log tells of a job.
     *
     * @param kind such as {@code job_taken}
     */
    record Told(String kind, String job, String project, String worker, double seconds) {}

    /** What happened to jobs, in its order. */
    List<Told> told() {
        List<Told> told = new ArrayList<>();
        for (int number = 4; number >= 0; number--) {
            Path log = queues().resolve("log/farm." + number + ".log");
            if (Files.exists(log)) {
                try (Stream<String> lines = Files.lines(log)) {
                    lines.filter(line -> line.contains(" event=job_"))
                            .map(ScaledFarm::told)
                            .forEach(told::add);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
        return told;
    }

    private static Told told(String line) {
        String kind = "";
        String job = "";
        String project = "";
        String worker = "";
        double seconds = 0;
        Matcher field = FIELD.matcher(line);
        while (field.find()) {
            String value = field.group(2);
            switch (field.group(1)) {
                case "event" -> kind = value;
                case "job" -> job = value;
                case "project" -> project = value;
                case "worker" -> worker = value;
                case "waited", "seconds" -> seconds = Double.parseDouble(value);
                default -> {}
            }
        }
        return new Told(kind, job, project, worker, seconds);
    }

    @Override
    public void close() {
        List<Thread> ends = new ArrayList<>();
        for (AutoCloseable each : open) {
            Thread end = new Thread(() -> {
                try {
                    each.close();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            end.start();
            ends.add(end);
        }
        try {
            for (Thread end : ends) {
                end.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        broker.close();
    }
}
