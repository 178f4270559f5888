// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import io.kiln.base.Log;
import io.kiln.farm.broker.FarmBroker;
import io.kiln.farm.client.FarmClient;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.link.FarmAccess;
import io.kiln.farm.link.FarmAddress;
import io.kiln.process.RunningProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * A benchmark: jobs that only compute, about a second each as jobs of an emulator do, by one worker process and by two. Two idle cores are
 * needed for a figure that says something; so it says, too, how much of a core each worker had while it worked. The best of three rounds counts,
 * because whatever else a computer does only makes it slower.
 */
public final class FarmThroughput {
    private static final int JOBS = 40;
    private static final int ROUNDS = 3;
    private static final int DIGESTS = 750_000;
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final double NANOS = 1e9;

    private FarmThroughput() {}

    /**
     * What workers did.
     *
     * @param perSecond jobs
     * @param share of a core that each of them had, 0 to 1
     */
    private record Rate(double perSecond, double share) {}

    /** Prints the rates and their ratio. */
    public static void main(String[] args) throws IOException {
        Path folder = Files.createTempDirectory("farm-throughput");
        FarmAddress here = FarmAddress.parse("tcp://localhost:0", FarmAccess.NONE);
        try (FarmBroker broker = FarmBroker.start(folder.resolve("broker"), here)) {
            Rate one = new Rate(0, 0);
            Rate two = new Rate(0, 0);
            for (int round = 0; round < ROUNDS; round++) {
                one = better(one, rate(broker.address(), 1, folder));
                two = better(two, rate(broker.address(), 2, folder));
            }
            say("1 worker", one);
            say("2 workers", two);
            System.out.printf(Locale.ROOT, "Ratio: %.2f%n", two.perSecond / one.perSecond);
        }
    }

    private static Rate better(Rate one, Rate other) {
        return one.perSecond > other.perSecond ? one : other;
    }

    private static void say(String who, Rate rate) {
        System.out.printf(
                Locale.ROOT, "%s: %.2f jobs/s, each had %.0f %% of a core%n", who, rate.perSecond, 100 * rate.share);
    }

    private static Rate rate(FarmAddress farm, int count, Path folder) {
        List<RunningProcess> workers = new ArrayList<>();
        try (FarmClient client = FarmClient.connect(farm, PATIENCE, Log.QUIET)) {
            for (int i = 0; i < count; i++) {
                workers.add(DigestWorkerProgram.fork(farm, "w" + i, "b", folder.resolve("leases")));
            }
            // Until all of them are there and warm.
            client.run(jobs(2 * count));
            double used = used(workers);
            long began = System.nanoTime();
            client.run(jobs(JOBS));
            double seconds = (System.nanoTime() - began) / NANOS;
            return new Rate(JOBS / seconds, (used(workers) - used) / seconds / count);
        } finally {
            workers.forEach(RunningProcess::close);
        }
    }

    private static List<FarmJob> jobs(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> DigestRunner.digest("b", DIGESTS, "job " + i))
                .toList();
    }

    /** Processor seconds of the workers. */
    private static double used(List<RunningProcess> workers) {
        return workers.stream()
                .flatMap(worker -> ProcessHandle.of(worker.pid()).stream())
                .flatMap(process -> process.info().totalCpuDuration().stream())
                .mapToDouble(time -> time.toNanos() / NANOS)
                .sum();
    }
}
