// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.farm;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.Log;
import io.kiln.farm.client.FarmClient;
import io.kiln.farm.client.FarmClient.JobTerms;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.job.FarmAnswer;
import io.kiln.farm.job.FarmAnswer.FarmResult;
import io.kiln.farm.job.FarmAnswer.GivenUp;
import io.kiln.farm.job.FarmAnswer.Ran;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.job.FarmJob.FarmTask;
import io.kiln.farm.job.RunPlace;
import io.kiln.farm.lease.BoardLeases;
import io.kiln.farm.lease.BoardLeases.BoardLease;
import io.kiln.farm.link.FarmLink.FarmLost;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.process.RunningProcess;
import io.kiln.reference.Interpreter;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code -Dkiln.farm.soak}: eight workers in processes of their own, four of them on a second computer, with QEMU and four virtual boards, answer two
 * thousand jobs of three projects, while 60 processes are killed, every tenth of them the broker, the network is cut for seconds and minutes, the
 * broker's disk is full and clocks jump. A number as the property's value takes so many jobs, and kills in proportion. What this needs, and what it
 * does without, is in {@link SoakPlace}. With {@code -Dkiln.farm.soak.broker=foreign} the broker is Qpid Broker-J.
 */
@EnabledIfSystemProperty(named = "kiln.farm.soak", matches = ".*")
final class FarmSoakTest {
    private static final int JOBS = Integer.getInteger("kiln.farm.soak", 2000);
    private static final int JOBS_PER_BOARD_JOB = 25;
    private static final int KILLS = Integer.getInteger("kiln.farm.soak.kills", JOBS * 3 / 100);
    private static final boolean IS_FOREIGN = "foreign".equals(System.getProperty("kiln.farm.soak.broker"));
    /** All jobs wait from the beginning; a busy computer may need seconds for each. */
    private static final Duration PATIENCE = Duration.ofMinutes(20).plusSeconds(3L * JOBS);

    private static final Duration LONGEST_REST = Duration.ofMinutes(2);
    private static final int KILLS_PER_BROKER = 10;
    private static final int MANY = 30;
    private static final int WORKERS = 8;
    private static final int BOARDS = 4;
    private static final List<String> PROJECTS = List.of("a", "a", "a", "b", "b", "c");
    private static final int[] CUTS = {5, 20, 90};
    private static final int JUMP = 600;
    private static final Duration WRONG_CLOCK = Duration.ofSeconds(60);
    private static final int MOST_CONNECTS = 5;
    private static final int FULL_SECONDS = 40;
    private static final int DISK_MEGABYTES = 200;

    @TempDir
    private Path folder;

    private SoakPlace place;
    private SoakBroker broker;
    private final Random random = new Random(7);
    private final Map<Integer, RunningProcess> workers = new TreeMap<>();
    private final Set<String> alarms = Collections.synchronizedSet(new TreeSet<>());
    private final AtomicInteger reads = new AtomicInteger();
    private final AtomicInteger restarts = new AtomicInteger();
    private final long begin = System.nanoTime();
    private int brokersKilled;
    private int cuts;
    private Optional<AlarmBell> bell = Optional.empty();
    private volatile boolean isOver;

    private Path home(int number) {
        return folder.resolve(number < WORKERS / 2 ? "near" : "far");
    }

    private void fork(int number) {
        String board = number % 2 == 0 ? "board-" + number : "";
        workers.put(
                number,
                BenchWorkerProgram.fork(
                        place.on(number >= WORKERS / 2),
                        broker.address(),
                        "w" + number,
                        board,
                        home(number),
                        place.keyFolder()));
    }

    private Bytes image(String board) throws IOException {
        GestureProject project = new GestureProject(folder.resolve(board));
        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET))
                .build(project.spec(board).verify(GestureProject.UNVERIFIED).build(), DeviceSpec.USUAL);
        return Bytes.wrap(Files.readAllBytes(project.out("gesture.elf")));
    }

    @Test
    void every_job_is_answered_once_whatever_dies() throws Exception {
        Files.createDirectories(home(0).resolve("tmp"));
        Files.createDirectories(home(WORKERS).resolve("tmp"));
        Bytes emulated = image("mps2-an386");
        Bytes flashed = image("virtual-stm32f405");
        try (SoakPlace made = new SoakPlace(folder, DISK_MEGABYTES);
                SoakBroker started = new SoakBroker(made, IS_FOREIGN)) {
            place = made;
            broker = started;
            bell = AlarmBell.start(folder.resolve("prometheus"), broker.figures());
            say((IS_FOREIGN ? "Qpid Broker-J" : "Kiln's own broker") + (bell.isPresent() ? "" : ", WITHOUT alarms"));
            IntStream.range(0, WORKERS).forEach(this::fork);
            try {
                soak(emulated, flashed);
            } finally {
                isOver = true;
                workers.values().forEach(RunningProcess::close);
                bell.ifPresent(AlarmBell::close);
            }
        }
    }

    private void soak(Bytes emulated, Bytes flashed) throws Exception {
        Map<String, FarmClient> clients = new TreeMap<>();
        for (String project : Set.copyOf(PROJECTS)) {
            JobTerms terms = new JobTerms(PATIENCE, project, JobTerms.usual("verify"), Labels.NONE, "1.0.0");
            clients.put(project, connect(terms));
        }
        FarmTask run = new FarmTask.Run(List.of(new FarmTask.Call(0, input())));
        Queue<CompletableFuture<FarmResult>> results = new ConcurrentLinkedQueue<>();
        List<CompletableFuture<Void>> sending = clients.entrySet().stream()
                .map(client -> CompletableFuture.runAsync(
                        () -> IntStream.range(0, JOBS)
                                .filter(i -> PROJECTS.get(i % PROJECTS.size()).equals(client.getKey()))
                                .mapToObj(i -> i % JOBS_PER_BOARD_JOB == 0
                                        ? job("virtual-stm32f405", RunPlace.BOARD, flashed, run)
                                        : job("mps2-an386", RunPlace.EMULATOR, emulated, run))
                                .forEach(job -> results.add(client.getValue().submit(job))),
                        work -> new Thread(work, "sending").start()))
                .toList();
        Thread watching = new Thread(this::watch, "watching");
        watching.start();
        disturb(() -> {
            sending.stream().filter(CompletableFuture::isCompletedExceptionally).forEach(CompletableFuture::join);
            return results.stream().filter(CompletableFuture::isDone).count();
        });
        sending.forEach(CompletableFuture::join);
        List<FarmAnswer> answers = results.stream()
                .map(CompletableFuture::join)
                .map(FarmResult::answer)
                .toList();
        clients.values().forEach(FarmClient::close);
        check(answers);
        isOver = true;
        watching.join();
        alarms();
        broker.close();
        leasesEnd();
    }

    private static FarmJob job(String board, RunPlace place, Bytes image, FarmTask run) {
        return FarmJob.of(board, place, Duration.ofSeconds(60), image, run);
    }

    /** Eight processes that start keep a small computer from answering for a while. */
    private FarmClient connect(JobTerms terms) {
        for (int i = 0; ; i++) {
            try {
                return FarmClient.connect(broker.address(), terms, Log.QUIET);
            } catch (FarmLost e) {
                if (i == MOST_CONNECTS) {
                    throw e;
                }
                pause();
            }
        }
    }

    private static List<Bytes> input() throws IOException {
        return List.of(Bytes.wrap(Files.readAllBytes(GestureProject.VECTORS.resolve("input_0.bin"))));
    }

    static void say(String what) {
        System.out.println(Instant.now().truncatedTo(ChronoUnit.SECONDS) + " " + what);
    }

    /** Kills, cuts, a full disk and jumps of the clock, spread over the jobs while they are sent and answered. */
    private void disturb(LongSupplier answers) throws Exception {
        long jumpedAt = 0;
        for (int kill = 0; kill < KILLS; kill++) {
            int job = (kill + 1) * (JOBS / (KILLS + 2));
            while (answers.getAsLong() < job) {
                Thread.sleep(100);
                requireBroker();
            }
            kill(kill);
            if (kill % Math.max(1, KILLS / CUTS.length) == 1 && cuts < CUTS.length) {
                say("Cable pulled for " + CUTS[cuts] + " s, " + job + " answers");
                place.cut(Duration.ofSeconds(CUTS[cuts++]));
            }
            if (kill == KILLS / 4) {
                full();
            }
            if (kill == KILLS / 2) {
                say("Clock of the broker's computer jumps, " + job + " answers");
                place.jump(JUMP);
                jumpedAt = System.nanoTime();
            }
            if (kill == 3 * KILLS / 4) {
                // Answers that came while the cable was pulled would have it jump back at once.
                while (System.nanoTime() - jumpedAt < WRONG_CLOCK.toNanos()) {
                    pause();
                    requireBroker();
                }
                say("It jumps back, " + job + " answers");
                place.jump(0);
            }
        }
    }

    private void kill(int kill) {
        if (kill % KILLS_PER_BROKER == Math.min(KILLS_PER_BROKER, KILLS) - 1) {
            say("Broker killed");
            brokersKilled++;
            broker.kill();
            return;
        }
        int victim = random.nextInt(WORKERS);
        RunningProcess worker = workers.get(victim);
        ProcessHandle.of(worker.pid()).ifPresent(ProcessHandle::destroyForcibly);
        worker.close();
        fork(victim);
    }

    private void full() throws Exception {
        for (int left : new int[] {DISK_MEGABYTES / 20, 0}) {
            say("The broker's disk has " + left + " MB");
            long end = System.nanoTime() + Duration.ofSeconds(FULL_SECONDS).toNanos();
            while (System.nanoTime() < end) {
                // Whoever runs jobs makes room.
                place.fill(left);
                Thread.sleep(500);
                if (broker.startAgain()) {
                    restarts.incrementAndGet();
                }
            }
            place.free();
        }
        say("There is room on the disk again");
        requireBroker();
        if (broker.mend()) {
            restarts.incrementAndGet();
        }
    }

    private void requireBroker() {
        if (broker.keepAlive()) {
            say("The broker ended; it was started again");
            restarts.incrementAndGet();
        }
    }

    static void pause() {
        try {
            Thread.sleep(5000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Reads figures and health as those who alarm do. */
    private void watch() {
        while (!isOver) {
            pause();
            try {
                String health = broker.told("/health");
                if (!health.startsWith("well")) {
                    alarms.add(health.strip().replaceAll(" of [0-9TZ:-]+", ""));
                }
                for (String line : SoakPlace.parsed(broker.told("/metrics"))) {
                    String[] figure = line.split(" ", -1);
                    if (figure[1].matches("event=(job_returned|job_given_up|answer_refused|worker_left|strike)")
                            && Double.parseDouble(figure[2]) > 0) {
                        alarms.add(figure[1]);
                    }
                }
                reads.incrementAndGet();
            } catch (IOException e) {
                // It is being started.
                alarms.add("no answer");
            }
        }
    }

    private void check(List<FarmAnswer> answers) throws Exception {
        long givenUp = answers.stream().filter(GivenUp.class::isInstance).count();
        List<FarmAnswer> ran = answers.stream().filter(Ran.class::isInstance).toList();
        say("Answered " + ran.size() + ", given up after two kills " + givenUp + ", of " + answers.size()
                + ", after " + Duration.ofNanos(System.nanoTime() - begin).toSeconds() + " s; kills "
                + (KILLS - brokersKilled) + " of workers, " + brokersKilled + " of brokers; cuts " + cuts
                + "; brokers that ended by themselves " + restarts + "; figures read " + reads + " times; troubles "
                + alarms);
        assertThat(ran.size() + givenUp).isEqualTo(JOBS);
        assertThat(givenUp).isLessThanOrEqualTo(KILLS / 2);
        List<Bytes> expected = Interpreter.run(
                TfliteFrontend.read(Bytes.wrap(Files.readAllBytes(GestureProject.MODEL)), "gesture", "gesture"),
                input());
        assertThat(ran).allSatisfy(answer -> {
            assertThat(((Ran) answer).failure()).isEmpty();
            assertThat(((Ran) answer).runs().get(0).bytes()).isEqualTo(expected);
        });
        // A job or an answer that came twice is still on its way to be dropped.
        for (long end = System.nanoTime() + LONGEST_REST.toNanos(); System.nanoTime() < end && !broker.isEmpty(); ) {
            pause();
        }
        assertThat(broker.isEmpty()).isTrue();
        assertThat(reads.get()).isPositive();
        if (broker.isForeign()) {
            assertThat(SoakPlace.parsed(broker.told("/metrics")))
                    .noneMatch(line -> line.startsWith("kiln_farm_queue_messages "));
            return;
        }
        long returned = broker.logged("job_returned");
        say("Jobs returned: " + returned + "; workers that left: " + broker.logged("worker_left"));
        assertThat(returned).isPositive();
        if (place.hasDisk()) {
            assertThat(alarms).anyMatch(alarm -> alarm.contains("the disk of the queues is fuller than 80 percent"));
        }
    }

    /** What has to ring has rung, and nothing else has. */
    private void alarms() throws IOException {
        if (bell.isEmpty()) {
            return;
        }
        Set<String> fired = bell.get().fired();
        bell.get().close();
        say("Prometheus rang " + fired);
        Set<String> due = new TreeSet<>();
        if (place.hasClock()) {
            due.add("KilnFarmClock");
        }
        if (broker.isForeign()) {
            due.add("KilnFarmBrokerLost");
        } else {
            if (KILLS >= MANY) {
                due.add("KilnFarmJobsReturned");
            }
        }
        if (place.hasDisk() && !broker.isForeign()) {
            assertThat(fired).contains("KilnFarmUnwell");
        }
        assertThat(fired)
                .containsAll(due)
                .doesNotContain(
                        "KilnFarmQuarantine",
                        "KilnFarmWrongAnswers",
                        "KilnFarmVersions",
                        "KilnFarmCertificate",
                        "KilnFarmBoardElsewhere",
                        "KilnFarmMemory");
    }

    private void leasesEnd() throws IOException {
        workers.values().forEach(RunningProcess::close);
        assertThat(ProcessHandle.allProcesses()
                        .filter(process -> process.info()
                                .commandLine()
                                .filter(line -> line.contains(folder.toString()))
                                .isPresent()))
                .isEmpty();
        Clock later = Clock.offset(Clock.systemUTC(), BoardLeases.USUAL_TERM.plusSeconds(JUMP));
        for (int i = 0; i < BOARDS; i++) {
            BoardLeases leases = new BoardLeases(home(2 * i).resolve("leases"), later, BoardLeases.USUAL_TERM);
            Optional<BoardLease> lease = leases.take("board-" + 2 * i);
            assertThat(lease).isPresent();
            lease.get().close();
        }
    }
}
