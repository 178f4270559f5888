// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import io.kiln.base.Log;
import io.kiln.farm.broker.FarmBroker;
import io.kiln.farm.client.FarmClient;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.link.FarmAddress;
import io.kiln.process.RunningProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A benchmark: jobs that only compute, about a second each as jobs of an emulator do, by one worker process and by two, and by as many processes
 * without a farm: their ratio is what the computer gives. Two idle cores are needed for ratios that say something; so it says, too, how much of a
 * core each process had while it worked, and the processor time of a job, which other work on the computer changes little. The best of some rounds
 * counts, because whatever else a computer does only makes it slower.
 *
 * <p>Arguments, all optional: number of jobs, rounds, digests of a job.
 */
public final class FarmThroughput {
    private static final int JOBS = 40;
    private static final int ROUNDS = 3;
    private static final int DIGESTS = 750_000;
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final double NANOS = 1e9;
    private static final double MILLIS = 1000;

    private final int jobs;
    private final int digests;
    private final Path folder;

    private FarmThroughput(int jobs, int digests, Path folder) {
        this.jobs = jobs;
        this.digests = digests;
        this.folder = folder;
    }

    /**
     * What workers did.
     *
     * @param perSecond jobs
     * @param share of a core that each of them had, 0 to 1
     * @param theirs processor seconds of a job in the workers
     * @param ours processor seconds of a job in this process, which is broker and client
     */
    private record Rate(double perSecond, double share, double theirs, double ours) {}

    /** Prints rates and their ratios. */
    public static void main(String[] args) throws IOException {
        int[] numbers = Stream.of(args).mapToInt(Integer::parseInt).toArray();
        FarmThroughput bench = new FarmThroughput(
                numbers.length > 0 ? numbers[0] : JOBS,
                numbers.length > 2 ? numbers[2] : DIGESTS,
                Files.createTempDirectory("farm-throughput"));
        bench.run(numbers.length > 1 ? numbers[1] : ROUNDS);
    }

    private void run(int rounds) {
        List<Rate> best = new ArrayList<>();
        FarmAddress here = FarmAddress.parse("tcp://localhost:0", DigestWorkerProgram.MEMBER);
        try (FarmBroker broker = FarmBroker.start(folder.resolve("broker"), here, Log.QUIET, event -> {})) {
            for (int round = 0; round < rounds; round++) {
                List<Rate> rates = List.of(alone(1), alone(2), farm(broker.address(), 1), farm(broker.address(), 2));
                for (int i = 0; i < rates.size(); i++) {
                    if (round == 0) {
                        best.add(rates.get(i));
                    } else if (rates.get(i).perSecond > best.get(i).perSecond) {
                        best.set(i, rates.get(i));
                    }
                }
            }
        }
        say("1 process without a farm", best.get(0));
        say("2 processes without a farm", best.get(1));
        say("1 worker", best.get(2));
        say("2 workers", best.get(3));
        System.out.printf(
                Locale.ROOT,
                "Ratio: %.2f, without a farm %.2f%n",
                best.get(3).perSecond / best.get(2).perSecond,
                best.get(1).perSecond / best.get(0).perSecond);
    }

    private static void say(String who, Rate rate) {
        System.out.printf(
                Locale.ROOT,
                "%s: %.2f jobs/s, each had %.0f %% of a core; a job took %.1f ms of them and %.1f ms of broker and"
                        + " client%n",
                who,
                rate.perSecond,
                100 * rate.share,
                MILLIS * rate.theirs,
                MILLIS * rate.ours);
    }

    private Rate farm(FarmAddress farm, int count) {
        List<RunningProcess> workers = new ArrayList<>();
        try (FarmClient client = FarmClient.connect(farm, FarmTerms.of(PATIENCE), Log.QUIET)) {
            for (int i = 0; i < count; i++) {
                workers.add(DigestWorkerProgram.fork(farm, "w" + i, "b", folder.resolve("leases")));
            }
            // Until all of them are there and warm.
            client.run(jobs(2 * count));
            return rate(workers, () -> client.run(jobs(jobs)));
        } finally {
            workers.forEach(RunningProcess::close);
        }
    }

    private Rate alone(int count) {
        List<RunningProcess> workers = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                workers.add(DigestWorkerProgram.forkAlone(digests));
            }
            work(workers, 2);
            return rate(workers, () -> work(workers, jobs / count));
        } finally {
            workers.forEach(RunningProcess::close);
        }
    }

    private static void work(List<RunningProcess> workers, int each) {
        try {
            for (RunningProcess worker : workers) {
                worker.input().write("job\n".repeat(each).getBytes(StandardCharsets.US_ASCII));
                worker.input().flush();
            }
            for (RunningProcess worker : workers) {
                BufferedReader answers =
                        new BufferedReader(new InputStreamReader(worker.output(), StandardCharsets.US_ASCII));
                for (int i = 0; i < each; i++) {
                    if (answers.readLine() == null) {
                        throw new IllegalStateException("a process ended: " + worker.errors());
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Rate rate(List<RunningProcess> workers, Runnable all) {
        double theirs = used(workers);
        double ours = used(ProcessHandle.current());
        long began = System.nanoTime();
        all.run();
        double seconds = (System.nanoTime() - began) / NANOS;
        theirs = used(workers) - theirs;
        ours = used(ProcessHandle.current()) - ours;
        return new Rate(jobs / seconds, theirs / seconds / workers.size(), theirs / jobs, ours / jobs);
    }

    private List<FarmJob> jobs(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> DigestRunner.digest("b", digests, "job " + i))
                .toList();
    }

    /** Processor seconds of the workers. */
    private static double used(List<RunningProcess> workers) {
        return workers.stream()
                .flatMap(worker -> ProcessHandle.of(worker.pid()).stream())
                .mapToDouble(FarmThroughput::used)
                .sum();
    }

    private static double used(ProcessHandle process) {
        return process.info()
                .totalCpuDuration()
                .map(time -> time.toNanos() / NANOS)
                .orElse(0.0);
    }
}
