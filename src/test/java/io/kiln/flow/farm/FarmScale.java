// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.farm;

import io.kiln.base.Bytes;
import io.kiln.base.WholeFiles;
import io.kiln.farm.client.FarmClient;
import io.kiln.farm.job.FarmAnswer.FarmResult;
import io.kiln.farm.job.FarmJob;
import io.kiln.flow.farm.ScaledFarm.Told;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * A benchmark: three projects send all jobs of a night at once to a farm of many boards, whose broker is killed when half of them are answered. A
 * twentieth of the jobs needs a label that half of the workers have, and every hundredth answer is followed by an urgent job.
 *
 * <p>Arguments, all optional: number of boards, jobs, bytes of an image, mean milliseconds for which a board has a job (drawn, exponential), MB of
 * the broker's heap.
 */
final class FarmScale {
    private static final int[] DEFAULTS = {200, 20_000, 4096, 0, 1024};
    private static final List<String> PROJECTS = List.of("nightly", "gesture", "wakeword");
    private static final String URGENT = "urgent";

    /** Of ten jobs, so many are of the first project, and of the first two. */
    private static final int[] SHARES = {6, 9};

    private static final int NEEDY = 20;
    private static final int USUAL = 4;
    private static final double NANOS = 1e9;
    private static final double MEGA = 1 << 20;

    private final ScaledFarm farm;
    private final int boards;
    private final int jobs;
    private final Bytes image;
    private final Supplier<Duration> delay;
    private final List<String> texts = new ArrayList<>();
    private final List<CompletableFuture<FarmResult>> results = new ArrayList<>();

    private FarmScale(ScaledFarm farm, int[] numbers) {
        this.farm = farm;
        this.boards = numbers[0];
        this.jobs = numbers[1];
        this.image = Bytes.wrap(new byte[numbers[2]]);
        Random random = new Random(38);
        this.delay = () -> {
            synchronized (random) {
                return Duration.ofMillis(Math.round(-Math.log(1 - random.nextDouble()) * numbers[3]));
            }
        };
    }

    /** Prints what was measured. */
    public static void main(String[] args) throws Exception {
        int[] numbers = DEFAULTS.clone();
        for (int i = 0; i < args.length; i++) {
            numbers[i] = Integer.parseInt(args[i]);
        }
        Path folder = Files.createTempDirectory("farm-scale");
        try (ScaledFarm farm = new ScaledFarm(folder, numbers[4])) {
            new FarmScale(farm, numbers).run();
        } finally {
            WholeFiles.clear(folder);
        }
    }

    private static void say(String format, Object... values) {
        System.out.printf(Locale.ROOT, format + "%n", values);
    }

    private static double since(long began) {
        return (System.nanoTime() - began) / NANOS;
    }

    private void run() throws Exception {
        say("%d boards, %d jobs with images of %d bytes", boards, jobs, image.size());
        memory("Broker without jobs");
        long began = System.nanoTime();
        submit();
        say("Sent: %.0f jobs/s", jobs / since(began));
        memory("All jobs wait");
        began = System.nanoTime();
        farm.plug(boards, delay);
        say("Workers started: %.1f s", since(began));
        FarmClient urgent = farm.client(URGENT, 9, "");
        int half = answered(urgent, 0, jobs / 2, began);
        double used = cpu();
        memory("Half of the jobs answered");
        long died = System.nanoTime();
        farm.killBroker();
        double serves = since(died);
        long before = done();
        while (done() == before) {
            Thread.sleep(20);
        }
        double first = since(died);
        while (done() < before + boards) {
            Thread.sleep(20);
        }
        say(
                "After the broker's death: it serves after %.1f s, first answer after %.1f s, as many as boards after"
                        + " %.1f s",
                serves, first, since(died));
        long again = System.nanoTime();
        answered(urgent, half, jobs, again);
        say("Processor time of the broker: %.2f ms a job", 1000 * used / half);
        for (CompletableFuture<FarmResult> result : results) {
            result.get(10, TimeUnit.MINUTES);
        }
        memory("All jobs answered");
        check();
        fairness(farm.told());
    }

    private void submit() throws InterruptedException {
        Map<String, List<Integer>> ofClients = new TreeMap<>();
        for (int i = 0; i < jobs; i++) {
            int share = i % 10;
            String project = PROJECTS.get(share < SHARES[0] ? 0 : share < SHARES[1] ? 1 : 2);
            String needs = i % NEEDY == NEEDY - 1 ? "room=1" : "";
            ofClients
                    .computeIfAbsent(project + ":" + needs, key -> new ArrayList<>())
                    .add(i);
            texts.add("job " + i);
            results.add(new CompletableFuture<>());
        }
        List<Thread> threads = new ArrayList<>();
        ofClients.forEach((key, own) -> {
            String[] parts = key.split(":", -1);
            FarmClient client = farm.client(parts[0], USUAL, parts[1]);
            Thread thread = new Thread(() -> own.forEach(i -> {
                FarmJob job = ScaledFarm.job(i / 10 % ScaledFarm.KINDS_OF_BOARDS, texts.get(i), image);
                CompletableFuture<?> unused = client.submit(job).whenComplete((result, failure) -> {
                    if (failure == null) {
                        results.get(i).complete(result);
                    } else {
                        results.get(i).completeExceptionally(failure);
                    }
                });
            }));
            threads.add(thread);
            thread.start();
        });
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private long done() {
        return results.stream().filter(CompletableFuture::isDone).count();
    }

    /** Waits for answers, and sends urgent jobs meanwhile. */
    private int answered(FarmClient urgent, int from, int to, long began) throws InterruptedException {
        long done = from;
        long urgents = done / 100;
        int ofRun = 0;
        while (done < to) {
            Thread.sleep(100);
            done = done();
            for (; urgents < done / 100; urgents++) {
                int kind = (int) (urgents % ScaledFarm.KINDS_OF_BOARDS);
                CompletableFuture<?> unused = urgent.submit(ScaledFarm.job(kind, "u" + urgents, image));
            }
            if (++ofRun % 300 == 0) {
                say("  %d after %.0f s", done, since(began));
            }
        }
        say("%d answers in %.1f s: %.0f jobs/s", done - from, since(began), (done - from) / since(began));
        return (int) done;
    }

    private double cpu() {
        return farm.broker()
                .handle()
                .info()
                .totalCpuDuration()
                .map(time -> time.toNanos() / NANOS)
                .orElse(0.0);
    }

    private void memory(String when) throws IOException {
        long size;
        try (Stream<Path> files = Files.walk(farm.queues())) {
            size = files.filter(Files::isRegularFile)
                    .filter(file -> !file.toString().contains("log"))
                    .mapToLong(file -> file.toFile().length())
                    .sum();
        }
        say(
                "%s: heap of the broker %.0f MB, its queues on the disk %.0f MB",
                when, farm.broker().heap() / MEGA, size / MEGA);
    }

    private void check() throws Exception {
        int wrong = 0;
        for (int i = 0; i < jobs; i++) {
            wrong += ScaledFarm.isRight(results.get(i).get().answer(), texts.get(i)) ? 0 : 1;
        }
        say("Wrong answers: %d", wrong);
    }

    /** How the takes of three projects are distributed while all of them have jobs that any board of the kind may have. */
    private static void fairness(List<Told> told) {
        Map<String, Long> last = new HashMap<>();
        Map<String, Integer> sent = new HashMap<>();
        List<Integer> waits = new ArrayList<>();
        Set<String> answered = new HashSet<>();
        int twice = 0;
        List<Told> takes = new ArrayList<>();
        for (Told each : told) {
            switch (each.kind()) {
                case "job_sent" -> sent.put(each.job(), takes.size());
                case "job_taken" -> {
                    if (each.project().equals(URGENT)) {
                        waits.add(takes.size() - sent.getOrDefault(each.job(), takes.size()));
                    }
                    takes.add(each);
                    last.put(each.project(), (long) takes.size());
                }
                case "job_answered" -> twice += answered.add(each.job()) ? 0 : 1;
                default -> {}
            }
        }
        long end = PROJECTS.stream().mapToLong(last::get).min().orElse(0);
        Map<String, Integer> counts = new TreeMap<>();
        takes.subList(0, (int) end).forEach(take -> counts.merge(take.project(), 1, Integer::sum));
        say("Taken until the smallest project has none left: %s", counts);
        waits.sort(null);
        say(
                "Urgent jobs: %d; others taken between sending and taking: median %d, most %d",
                waits.size(), waits.get(waits.size() / 2), waits.get(waits.size() - 1));
        say(
                "Answered twice: %d, taken again: %d",
                twice,
                takes.size() - new HashSet<>(takes.stream().map(Told::job).toList()).size());
    }
}
