// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import io.kiln.farm.broker.FarmBroker;
import io.kiln.farm.client.FarmClient;
import io.kiln.farm.desk.FarmEvent;
import io.kiln.farm.desk.FarmEvent.Kind;
import io.kiln.farm.job.FarmAnswer.FarmResult;
import io.kiln.farm.job.FarmAnswer.Ran;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.worker.Worker;
import io.kiln.process.RunningProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workers in processes of their own that are told to end by a signal, as systemd does. */
final class FarmStopTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int BY_SIGNAL = 143;

    @TempDir
    private static Path folder;

    private static final BlockingQueue<FarmEvent> EVENTS = new LinkedBlockingQueue<>();
    private static FarmBroker broker;
    private static FarmClient client;

    @BeforeAll
    static void start() {
        broker = FarmBroker.start(
                folder.resolve("farm"),
                FarmAddress.parse("tcp://localhost:0", DigestWorkerProgram.MEMBER),
                Log.QUIET,
                EVENTS::add);
        client = FarmClient.connect(broker.address(), FarmTerms.of(PATIENCE), Log.QUIET);
    }

    @AfterAll
    static void stop() {
        client.close();
        broker.close();
    }

    private static void awaitWork(RunningProcess worker) throws IOException {
        BufferedReader said = new BufferedReader(new InputStreamReader(worker.output(), StandardCharsets.UTF_8));
        assertThat(said.readLine()).isEqualTo("waiting");
    }

    /** Whether the broker says before long that something happened. */
    private static boolean isTold(Kind kind) throws InterruptedException {
        Optional<FarmEvent> event;
        do {
            event = Optional.ofNullable(EVENTS.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        } while (event.filter(each -> each.kind() != kind).isPresent());
        return event.isPresent();
    }

    private static void signal(RunningProcess worker) {
        assertThat(ProcessHandle.of(worker.pid()).orElseThrow().destroy()).isTrue();
    }

    @Test
    void a_worker_finishes_its_job_and_takes_no_other() throws Exception {
        try (RunningProcess first =
                DigestWorkerProgram.fork(broker.address(), "first", "b", folder.resolve("leases"), 60)) {
            CompletableFuture<FarmResult> begun = client.submit(DigestRunner.finishing("b", "first"));
            awaitWork(first);
            CompletableFuture<FarmResult> next = client.submit(DigestRunner.digest("b", 1, "x"));
            signal(first);
            FarmResult answered = begun.join();
            assertThat(answered.worker()).isEqualTo("first");
            assertThat(answered.answer()).isInstanceOf(Ran.class);
            assertThat(first.waitFor(PATIENCE)).isEqualTo(Optional.of(BY_SIGNAL));
            assertThat(next.isDone()).isFalse();
            try (Worker second = DigestWorkerProgram.start(broker.address(), "second", "b", folder.resolve("leases"))) {
                assertThat(next.join().worker()).isEqualTo("second");
                second.drain(PATIENCE);
                assertThat(second.done()).isEqualTo(1);
            }
        }
    }

    /** Two workers that die while they run a job end it; three that give it back do not. The last two are in this process, which costs less. */
    @Test
    void a_job_that_needs_longer_is_given_back_and_not_counted() throws Exception {
        CompletableFuture<FarmResult> result = client.submit(DigestRunner.waiting("b", "slow"));
        try (RunningProcess slow =
                DigestWorkerProgram.fork(broker.address(), "slow", "b", folder.resolve("leases"), 0)) {
            awaitWork(slow);
            signal(slow);
            assertThat(slow.waitFor(PATIENCE)).isEqualTo(Optional.of(BY_SIGNAL));
        }
        for (int i = 0; i < 2; i++) {
            EVENTS.clear();
            try (Worker slow = DigestWorkerProgram.start(broker.address(), "slow", "b", folder.resolve("leases"))) {
                assertThat(isTold(Kind.JOB_TAKEN)).isTrue();
                slow.drain(Duration.ZERO);
                assertThat(isTold(Kind.JOB_RETURNED)).isTrue();
            }
        }
        assertThat(result.isDone()).isFalse();
        try (Worker quick = DigestWorkerProgram.start(broker.address(), "quick", "b", folder.resolve("leases"))) {
            assertThat(result.join().worker()).isEqualTo("quick");
            quick.drain(PATIENCE);
            assertThat(quick.done()).isEqualTo(1);
        }
    }
}
