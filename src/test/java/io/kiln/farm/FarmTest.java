// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.farm.broker.FarmBroker;
import io.kiln.farm.client.FarmClient;
import io.kiln.farm.desk.FarmEvent.FarmEvents;
import io.kiln.farm.desk.FarmEvent.Kind;
import io.kiln.farm.job.FarmAnswer.Failed;
import io.kiln.farm.job.FarmAnswer.FarmResult;
import io.kiln.farm.job.FarmAnswer.GivenUp;
import io.kiln.farm.job.FarmAnswer.Ran;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.job.FarmJob.FarmTask;
import io.kiln.farm.job.RunPlace;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmMessage;
import io.kiln.farm.link.FarmMessage.Manner;
import io.kiln.farm.link.FarmQueues;
import io.kiln.farm.state.FarmKeeper;
import io.kiln.farm.state.FarmState;
import io.kiln.farm.worker.Worker;
import io.kiln.process.RunningProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A broker, workers and clients, with work that needs no tools. */
final class FarmTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    private Path folder;

    private FarmBroker broker;
    private FarmKeeper keeper;
    private FarmAddress address;
    private final List<AutoCloseable> open = new ArrayList<>();

    @BeforeEach
    void startFarm() {
        start(FarmAddress.parse("tcp://localhost:0", DigestWorkerProgram.MEMBER));
    }

    private void start(FarmAddress at) {
        start(folder.resolve("farm"), at, event -> {});
    }

    private void start(Path queues, FarmAddress at, FarmEvents events) {
        broker = FarmBroker.start(queues, at, Log.QUIET, events);
        address = broker.address();
        keeper = new FarmKeeper(broker::link, broker.desk(), address.url(), "1.0.0", Clock.systemUTC()).start();
    }

    @AfterEach
    void stopFarm() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        keeper.close();
        broker.close();
    }

    private <T extends AutoCloseable> T opened(T it) {
        open.add(it);
        return it;
    }

    private FarmClient client() {
        return opened(FarmClient.connect(address, FarmTerms.of(PATIENCE), Log.QUIET));
    }

    private Worker worker(String name, String board) {
        return opened(DigestWorkerProgram.start(address, name, board, folder.resolve("leases")));
    }

    private RunningProcess fork(String name, String board) {
        return opened(DigestWorkerProgram.fork(address, name, board, folder.resolve("leases")));
    }

    private static String text(FarmResult result) {
        return ((Ran) result.answer()).runs().get(0).bytes().get(0).text();
    }

    @Test
    void every_job_is_answered_once_though_the_broker_is_restarted() {
        FarmClient client = client();
        List<CompletableFuture<FarmResult>> results = new ArrayList<>();
        IntStream.range(0, 20).forEach(i -> results.add(client.submit(DigestRunner.digest("b", 20_000, "first " + i))));
        Worker one = worker("one", "b");
        Worker two = worker("two", "b");
        results.get(0).join();
        keeper.close();
        broker.close();
        start(address);
        IntStream.range(0, 20)
                .forEach(i -> results.add(client.submit(DigestRunner.digest("b", 20_000, "second " + i))));
        assertThat(results)
                .extracting(result -> text(result.join()))
                .containsExactlyElementsOf(IntStream.range(0, 40)
                        .mapToObj(i -> DigestRunner.digested(20_000, (i < 20 ? "first " + i : "second " + (i - 20))))
                        .toList());
        client.close();
        one.close();
        two.close();
        assertThat(one.done()).isPositive();
        assertThat(two.done()).isPositive();
        assertThat(keeper.state().queues()).allMatch(queue -> queue.messages() == 0);
    }

    /** The next broker has another disk, and is slow: each job that is sent keeps it busy. */
    @Test
    void answers_come_while_jobs_are_sent_again() {
        int jobs = 80;
        FarmClient client = client();
        List<CompletableFuture<FarmResult>> results = IntStream.range(0, jobs)
                .mapToObj(i -> client.submit(DigestRunner.digest("b", 1, "job " + i)))
                .toList();
        keeper.close();
        broker.close();
        AtomicInteger sent = new AtomicInteger();
        AtomicLong answered = new AtomicLong();
        start(folder.resolve("other"), address, event -> {
            if (event.kind() == Kind.JOB_SENT) {
                LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
                if (sent.incrementAndGet() == jobs) {
                    answered.set(
                            results.stream().filter(CompletableFuture::isDone).count());
                }
            }
        });
        worker("late", "b");
        results.forEach(CompletableFuture::join);
        assertThat(sent).hasValue(jobs);
        assertThat(answered).hasPositiveValue();
    }

    @Test
    void a_job_outlives_its_worker_once_and_is_given_up_the_second_time() {
        FarmClient client = client();
        CompletableFuture<FarmResult> hurt = client.submit(DigestRunner.poison("b", "weak"));
        RunningProcess weak = fork("weak", "b");
        assertThat(weak.waitFor(PATIENCE)).contains(9);
        RunningProcess first = fork("first", "b");
        assertThat(hurt.join().worker()).isEqualTo("first");
        RunningProcess second = fork("second", "b");
        FarmJob poison = DigestRunner.poison("b");
        assertThat(client.submit(poison).join().answer()).isEqualTo(new GivenUp(2));
        assertThat(first.waitFor(PATIENCE)).contains(9);
        assertThat(second.waitFor(PATIENCE)).contains(9);
        client.close();
        keeper.close();
        keeper = new FarmKeeper(broker::link, broker.desk(), address.url(), "1.0.0", Clock.systemUTC()).start();
        FarmState state = keeper.state();
        assertThat(state.failures()).singleElement().satisfies(failure -> {
            assertThat(failure.job()).isEqualTo(poison.id());
            assertThat(failure.reason()).contains("given up");
        });
        assertThat(state.queues()).allMatch(queue -> queue.messages() == 0);
    }

    /** What its emulators say when Ctrl-C ends them is no answer. */
    @Test
    void a_worker_that_is_ended_leaves_its_job_to_another() throws IOException {
        RunningProcess first = fork("first", "b");
        CompletableFuture<FarmResult> result = client().submit(DigestRunner.waiting("b", "first"));
        end(first);
        worker("two", "b");
        assertThat(result.join().worker()).isEqualTo("two");
        assertThat(keeper.state().failures()).isEmpty();
    }

    @Test
    void a_build_that_is_ended_withdraws_its_jobs() throws IOException {
        end(opened(DigestWorkerProgram.forkBuild(address, "b")));
        assertThat(keeper.state().queues()).allMatch(queue -> queue.messages() == 0);
    }

    /** As by Ctrl-C, once it said that it waits. */
    private static void end(RunningProcess process) throws IOException {
        BufferedReader said = new BufferedReader(new InputStreamReader(process.output(), StandardCharsets.UTF_8));
        assertThat(said.readLine()).isEqualTo("waiting");
        ProcessHandle.of(process.pid()).ifPresent(ProcessHandle::destroy);
        assertThat(process.waitFor(PATIENCE)).isPresent();
    }

    @Test
    void messages_that_are_no_jobs_do_not_stop_a_worker() {
        String id = FarmJob.newId();
        FarmClient client = client();
        Map<String, String> properties = Map.of(
                FarmQueues.JOB,
                id,
                FarmQueues.CLIENT,
                FarmJob.newId(),
                FarmQueues.BOARD,
                "b",
                FarmQueues.PLACE,
                "emulator");
        FarmLink link = opened(FarmLink.open(address));
        link.send(FarmQueues.JOBS, new FarmMessage(properties, Bytes.ofText("nonsense"), Manner.once(id, PATIENCE)));
        worker("one", "b");
        assertThat(text(client.submit(DigestRunner.digest("b", 1, "x")).join()))
                .isEqualTo(DigestRunner.digested(1, "x"));
        FarmJob wrong =
                FarmJob.of("b", RunPlace.EMULATOR, Duration.ofSeconds(9), Bytes.ofText("1"), new FarmTask.Flash());
        assertThat(client.submit(wrong).join().answer()).isInstanceOf(Failed.class);
        assertThat(keeper.state().failures())
                .extracting(failure -> failure.job())
                .containsExactly(wrong.id(), id);
    }

    @Test
    void a_job_that_exhausts_a_worker_fails_and_does_not_end_it() {
        worker("one", "b");
        FarmClient client = client();
        assertThat(client.submit(DigestRunner.exhausting("b")).join().answer())
                .isInstanceOfSatisfying(
                        Failed.class,
                        failed -> assertThat(failed.problems().get(0).text()).contains("StackOverflowError"));
        assertThat(text(client.submit(DigestRunner.digest("b", 1, "x")).join()))
                .isEqualTo(DigestRunner.digested(1, "x"));
    }

    @Test
    void a_farm_without_a_worker_for_the_board_says_so() {
        worker("one", "other");
        FarmClient client = opened(FarmClient.connect(address, FarmTerms.of(Duration.ofSeconds(1)), Log.QUIET));
        assertThatThrownBy(() -> client.run(List.of(DigestRunner.digest("b", 1, "x"))))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("no worker of the farm answered for 1 s; ")
                .hasMessageContaining("expected a worker with b (emulator)");
    }
}
