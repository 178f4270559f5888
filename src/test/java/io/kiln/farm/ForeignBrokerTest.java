// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.farm.client.FarmClient;
import io.kiln.farm.desk.FarmDesk;
import io.kiln.farm.desk.FarmEvent;
import io.kiln.farm.desk.FarmEvent.Kind;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.job.FarmAnswer.GivenUp;
import io.kiln.farm.job.FarmAnswer.Ran;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.job.FarmResult;
import io.kiln.farm.link.FarmAccess;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmInbox;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmMessage;
import io.kiln.farm.link.FarmMessage.Manner;
import io.kiln.farm.link.FarmOrder;
import io.kiln.farm.link.FarmQueues;
import io.kiln.farm.state.FarmKeeper;
import io.kiln.farm.state.FarmQuestion;
import io.kiln.farm.worker.Worker;
import io.kiln.process.RunningProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A farm with a broker of another make, Apache Qpid Broker-J in a process of its own, and work that needs no tools. */
final class ForeignBrokerTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration SOON = Duration.ofMillis(300);

    @TempDir
    private static Path folder;

    private static QpidBrokerProgram broker;

    private final BlockingQueue<FarmEvent> events = new LinkedBlockingQueue<>();
    private final List<AutoCloseable> open = new ArrayList<>();
    private FarmKeeper keeper;

    @BeforeAll
    static void startBroker() throws IOException {
        broker = QpidBrokerProgram.start(folder.resolve("broker"));
    }

    @AfterAll
    static void stopBroker() {
        broker.close();
    }

    @BeforeEach
    void startKeeper() {
        FarmDesk desk = new FarmDesk(folder, Clock.systemUTC(), events::add);
        keeper = FarmKeeper.outside(broker.address(), desk, "1.0.0", Clock.systemUTC())
                .start();
    }

    @AfterEach
    void stopMembers() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        keeper.close();
    }

    private <T extends AutoCloseable> T opened(T it) {
        open.add(it);
        return it;
    }

    private FarmClient client() {
        return opened(FarmClient.connect(broker.address(), FarmTerms.of(PATIENCE), Log.QUIET));
    }

    private Worker worker(String name) {
        return opened(DigestWorkerProgram.start(broker.address(), name, "b", folder.resolve("leases")));
    }

    private RunningProcess fork(String name) {
        return opened(DigestWorkerProgram.fork(broker.address(), name, "b", folder.resolve("leases")));
    }

    private static String text(FarmResult result) {
        return ((Ran) result.answer()).runs().get(0).bytes().get(0).text();
    }

    /** The next event of a kind. */
    private FarmEvent event(Kind kind) throws InterruptedException {
        FarmEvent event = events.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        while (event != null && event.kind() != kind) {
            event = events.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
        assertThat(event).as("an event " + kind).isNotNull();
        return event;
    }

    private static boolean isEmpty(String queue) {
        try (FarmLink link = FarmLink.open(broker.address())) {
            return link.browse(queue, 1).isEmpty();
        }
    }

    @Test
    void every_job_is_answered_once_though_the_broker_is_killed() throws Exception {
        FarmClient client = client();
        List<CompletableFuture<FarmResult>> results = new ArrayList<>();
        IntStream.range(0, 20).forEach(i -> results.add(client.submit(DigestRunner.digest("b", 20_000, "first " + i))));
        Worker one = worker("one");
        Worker two = worker("two");
        results.get(0).join();
        broker.kill();
        event(Kind.BROKER_LOST);
        broker = broker.again();
        event(Kind.BROKER_FOUND);
        IntStream.range(0, 20)
                .forEach(i -> results.add(client.submit(DigestRunner.digest("b", 20_000, "second " + i))));
        assertThat(results)
                .extracting(result -> text(result.join()))
                .containsExactlyElementsOf(IntStream.range(0, 40)
                        .mapToObj(i -> DigestRunner.digested(20_000, i < 20 ? "first " + i : "second " + (i - 20)))
                        .toList());
        assertThat(FarmQuestion.ask(broker.address()).workers())
                .extracting(seen -> seen.news().name())
                .containsExactly("one", "two");
        client.close();
        one.close();
        two.close();
        assertThat(one.done()).isPositive();
        assertThat(two.done()).isPositive();
        assertThat(isEmpty(FarmQueues.JOBS)).isTrue();
        assertThat(isEmpty(FarmQueues.ANSWERS)).isTrue();
    }

    @Test
    void a_job_outlives_its_worker_once_and_is_given_up_the_second_time() {
        FarmClient client = client();
        CompletableFuture<FarmResult> hurt = client.submit(DigestRunner.poison("b", "weak"));
        assertThat(fork("weak").waitFor(PATIENCE)).contains(9);
        RunningProcess first = fork("first");
        assertThat(hurt.join().worker()).isEqualTo("first");
        RunningProcess second = fork("second");
        FarmJob poison = DigestRunner.poison("b");
        CompletableFuture<FarmResult> deadly = client.submit(poison);
        assertThat(first.waitFor(PATIENCE)).contains(9);
        assertThat(second.waitFor(PATIENCE)).contains(9);
        worker("third");
        assertThat(deadly.join().answer()).isEqualTo(new GivenUp(2));
        assertThat(keeper.state().failures()).anySatisfy(failure -> {
            assertThat(failure.job()).isEqualTo(poison.id());
            assertThat(failure.reason()).contains("given up");
        });
    }
}
