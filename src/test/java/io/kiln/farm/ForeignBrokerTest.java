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
import io.kiln.farm.job.FarmAnswer.FarmResult;
import io.kiln.farm.job.FarmAnswer.GivenUp;
import io.kiln.farm.job.FarmAnswer.Ran;
import io.kiln.farm.job.FarmAnswer.ResultFormat;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmAddress.FarmAccess;
import io.kiln.farm.link.FarmInbox;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmLink.FarmLost;
import io.kiln.farm.link.FarmMessage;
import io.kiln.farm.link.FarmMessage.FarmOrder;
import io.kiln.farm.link.FarmMessage.Manner;
import io.kiln.farm.link.FarmQueues;
import io.kiln.farm.state.FarmKeeper;
import io.kiln.farm.state.FarmState.FarmQuestion;
import io.kiln.farm.worker.Worker;
import io.kiln.flow.worker.FarmStep;
import io.kiln.flow.worker.FarmStep.Serving;
import io.kiln.process.RunningProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
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
import org.apache.qpid.protonj2.client.Client;
import org.apache.qpid.protonj2.client.Connection;
import org.apache.qpid.protonj2.client.ConnectionOptions;
import org.apache.qpid.protonj2.client.Message;
import org.apache.qpid.protonj2.client.Sender;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** A farm with a broker of another make, Apache Qpid Broker-J in a process of its own, and work that needs no tools. */
final class ForeignBrokerTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration SOON = Duration.ofMillis(300);

    @TempDir
    private static Path folder;

    private static FarmKeys keys;
    private static QpidBrokerProgram broker;

    private final BlockingQueue<FarmEvent> events = new LinkedBlockingQueue<>();
    private final List<AutoCloseable> open = new ArrayList<>();
    private FarmKeeper keeper;

    @BeforeAll
    static void startBroker() throws IOException, GeneralSecurityException {
        keys = new FarmKeys(folder);
        keys.pair("broker", "localhost");
        keys.pair("stranger", "localhost");
        keys.trust("brokers", "broker");
        keys.trust("strangers", "stranger");
        broker = QpidBrokerProgram.start(
                folder.resolve("broker"), keys.store("broker"), keys.password(QpidBrokerProgram.PASSWORD));
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

    /** Three workers answer 300 jobs while twelve of them are killed, and the broker twice. */
    @Test
    @EnabledIfSystemProperty(named = "kiln.golden", matches = "all")
    void every_job_is_answered_once_whatever_dies() throws Exception {
        FarmClient client =
                opened(FarmClient.connect(broker.address(), FarmTerms.of(Duration.ofMinutes(5)), Log.QUIET));
        List<CompletableFuture<FarmResult>> results = new ArrayList<>();
        IntStream.range(0, 300).forEach(i -> results.add(client.submit(DigestRunner.digest("b", 20_000, "job " + i))));
        List<RunningProcess> workers = new ArrayList<>();
        for (String name : List.of("one", "two", "three")) {
            workers.add(fork(name));
        }
        for (int kill = 0; kill < 12; kill++) {
            results.get((kill + 1) * 20).join();
            RunningProcess victim = workers.remove(0);
            ProcessHandle.of(victim.pid()).ifPresent(ProcessHandle::destroyForcibly);
            if (kill % 5 == 4) {
                broker.kill();
                broker = broker.again();
            }
            workers.add(fork("other-" + kill));
        }
        long givenUp = results.stream()
                .filter(result -> result.join().answer() instanceof GivenUp)
                .count();
        assertThat(givenUp).isLessThanOrEqualTo(6);
        for (int i = 0; i < results.size(); i++) {
            if (results.get(i).join().answer() instanceof Ran) {
                assertThat(text(results.get(i).join())).isEqualTo(DigestRunner.digested(20_000, "job " + i));
            }
        }
        client.close();
        assertThat(isEmpty(FarmQueues.JOBS)).isTrue();
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

    /** Members of another make, or who mean ill, send to the queues what they like. */
    @Test
    void messages_that_no_member_sends_are_taken_out_and_counted() throws Exception {
        CompletableFuture<FarmResult> result = client().submit(DigestRunner.digest("b", 1, "x"));
        FarmMessage job;
        try (FarmLink link = FarmLink.open(broker.address())) {
            job = link.browse(FarmQueues.JOBS, 1).get(0);
        }
        Client other = Client.create();
        Connection connection = other.connect(
                "localhost",
                broker.address().port(),
                new ConnectionOptions().user(FarmLink.USER).password(QpidBrokerProgram.PASSWORD));
        String client = job.property(FarmQueues.CLIENT);
        Sender answers = connection.openSender(FarmQueues.ANSWERS);
        answers.send(Message.create("a text").property(FarmQueues.CLIENT, client));
        assertThat(event(Kind.ANSWER_REFUSED).field("reason"))
                .isEqualTo("a message with other sections than farms have");
        answers.send(
                Message.create(new byte[9]).property(FarmQueues.CLIENT, client).property("JMSType", "x"));
        assertThat(event(Kind.ANSWER_REFUSED).field("reason"))
                .isEqualTo("a message with a property that farms do not have");
        answers.send(Message.create(new byte[FarmQueues.MOST_BYTES + (1 << 17)]).property(FarmQueues.CLIENT, client));
        assertThat(event(Kind.ANSWER_REFUSED).field("reason")).startsWith("a message of more than 33");
        answers.send(Message.create(new byte[9]).property(FarmQueues.CLIENT, client));
        assertThat(event(Kind.ANSWER_REFUSED).field("reason")).contains("result");
        String unasked = FarmJob.newId();
        Bytes answer = ResultFormat.write(new FarmResult(unasked, "", "liar", "liar", new GivenUp(2)));
        answers.send(Message.create(answer.toArray()).property(FarmQueues.CLIENT, client));
        assertThat(event(Kind.ANSWER_REFUSED).field("reason")).endsWith("not asked for: the answer to " + unasked);
        connection.openSender(FarmQueues.NEWS).send(Message.create(new byte[9]));
        assertThat(event(Kind.NEWS_REFUSED).field("reason")).contains("news of a worker with another version");
        connection.openSender(FarmQueues.QUESTIONS).send(Message.create(List.of("a sequence")));
        assertThat(event(Kind.NEWS_REFUSED).field("queue")).isEqualTo(FarmQueues.QUESTIONS);
        connection
                .openSender(FarmQueues.JOBS)
                .send(Message.create(new byte[9])
                        .property(FarmQueues.PLACE, job.property(FarmQueues.PLACE))
                        .property(FarmQueues.BOARD, "b"));
        worker("one");
        assertThat(text(result.join())).isEqualTo(DigestRunner.digested(1, "x"));
        // The same answer once more.
        FarmResult first = result.join();
        answers.send(Message.create(ResultFormat.write(first).toArray()).property(FarmQueues.CLIENT, client));
        assertThat(event(Kind.ANSWER_REFUSED).field("reason")).startsWith("late, twice");
        other.close();
        assertThat(isEmpty(FarmQueues.ANSWERS)).isTrue();
        assertThat(isEmpty(FarmQueues.JOBS)).isTrue();
    }

    @Test
    void what_goes_by_tls_arrives_in_the_order_of_priority_until_it_is_too_old() {
        byte[] content = new byte[3_000_000];
        new Random(7).nextBytes(content);
        Map<String, String> properties = Map.of(FarmQueues.CLIENT, "x", FarmQueues.BOARD, "ä");
        Manner usual = Manner.once("1", PATIENCE);
        try (FarmLink link = FarmLink.open(broker.encrypted())) {
            link.send(FarmQueues.JOBS, new FarmMessage(properties, Bytes.ofText("late"), usual.at(2)));
            link.send(FarmQueues.JOBS, new FarmMessage(properties, Bytes.wrap(content), usual.at(9)));
            link.send(
                    FarmQueues.JOBS,
                    new FarmMessage(properties, Bytes.ofText(""), Manner.fleeting(Duration.ofMillis(1))));
            try (FarmInbox inbox = link.inbox(FarmQueues.JOBS, FarmQueues.CLIENT + " = 'x'")) {
                FarmMessage first = inbox.receive(PATIENCE).orElseThrow().message();
                assertThat(first.body().toArray()).isEqualTo(content);
                assertThat(first.properties()).isEqualTo(properties);
                assertThat(first.manner().isDurable()).isTrue();
            }
            // What was not acknowledged went back, as often as it likes.
            for (int i = 0; i <= FarmQueues.TRIES; i++) {
                try (FarmInbox inbox = link.inbox(FarmQueues.JOBS, FarmQueues.CLIENT + " = 'x'")) {
                    assertThat(inbox.receive(PATIENCE)
                                    .orElseThrow()
                                    .message()
                                    .body()
                                    .size())
                            .isEqualTo(content.length);
                }
            }
            try (FarmInbox inbox = link.inbox(FarmQueues.JOBS, FarmQueues.CLIENT + " = 'x'")) {
                inbox.receive(PATIENCE).orElseThrow().done().run();
                FarmInbox.Received second = inbox.receive(PATIENCE).orElseThrow();
                assertThat(second.message().body().text()).isEqualTo("late");
                second.done().run();
                assertThat(inbox.receive(SOON)).isEmpty();
            }
            assertThat(link.count(FarmQueues.JOBS)).isEmpty();
        }
    }

    private static AbstractThrowableAssert<?, ?> opening(String scheme, FarmAddress at, FarmAccess access) {
        return assertThatThrownBy(() -> FarmLink.open(FarmAddress.parse(scheme + "://localhost:" + at.port(), access)))
                .isInstanceOf(KilnException.class);
    }

    @Test
    void each_way_not_to_come_together_has_its_message() {
        FarmAccess member = broker.encrypted().access();
        FarmAccess doubting = new FarmAccess(Optional.empty(), Optional.of(keys.store("strangers")), member.password());
        for (FarmAddress at : List.of(broker.address(), broker.encrypted())) {
            opening(at.isEncrypted() ? "amqps" : "amqp", at, keys.password("guess"))
                    .isNotInstanceOf(FarmLost.class)
                    .hasMessageContaining("the farm's broker refuses this member")
                    .hasMessageContaining("an account `kiln` with the farm's password");
        }
        opening("amqps", broker.encrypted(), doubting)
                .hasMessageContaining("the broker's certificate CN=broker, signed by CN=broker, is not trusted")
                .hasMessageContaining("keytool -importcert");
        opening("amqp", broker.encrypted(), member)
                .hasMessageContaining("it wants TLS; expected amqps://localhost:"
                        + broker.encrypted().port());
        opening("amqps", broker.address(), member)
                .hasMessageContaining("it does not speak TLS; expected a broker that speaks AMQP 1.0");
        opening("tcp", broker.address(), member).hasMessageContaining("something listens there, but it is no broker");
        assertThatThrownBy(() -> FarmAddress.parse("amqp://lab.example", member).requireUsable())
                .hasMessageContaining("without TLS; expected amqps://lab.example:5672");
    }

    /** As {@code kiln:farm -Dkiln.farm.listen=amqp://…} does. */
    @Test
    void its_company_shows_the_state() throws Exception {
        // Of two that listen, each would hear half of the news.
        keeper.close();
        KeptLog log = new KeptLog();
        Path reports = folder.resolve("reports");
        Serving how = new Serving(broker.address(), folder.resolve("company"), 1, Optional.empty());
        Thread serving = new Thread(() -> new FarmStep(log, reports).serve(how), "serving");
        serving.start();
        worker("one");
        Path page = reports.resolve("farm.html");
        for (int i = 0;
                i < 600 && !(Files.exists(page) && Files.readString(page).contains(">one</td>"));
                i++) {
            Thread.sleep(50);
        }
        serving.interrupt();
        serving.join();
        assertThat(Files.readString(page))
                .contains("<h1>Farm " + broker.address().url())
                .contains("Whoever runs the broker sees how many messages wait.")
                .contains(">one</td>");
        assertThat(log.warnings()).noneMatch(line -> line.startsWith("The farm goes on"));
    }

    /** The build looks who has the labels, and the broker keeps to it. */
    @Test
    void labels_choose_workers() throws Exception {
        FarmClient client = opened(FarmClient.connect(
                broker.address(), FarmTerms.of(PATIENCE, "p", Labels.parse("needs", "worker=b_nch*")), Log.QUIET));
        worker("bench");
        awaitNewsOf("bench");
        assertThatThrownBy(() -> client.submit(DigestRunner.digest("b", 1, "x")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("no worker of the farm has b (emulator) and the labels worker=b_nch*; there are ")
                .hasMessageContaining("b (emulator, worker bench)");
        worker("b_nch-1");
        awaitNewsOf("b_nch-1");
        for (int i = 0; i < 5; i++) {
            assertThat(client.run(List.of(DigestRunner.digest("b", 1, "y" + i))))
                    .extracting(FarmResult::worker)
                    .containsExactly("b_nch-1");
        }
    }

    private void awaitNewsOf(String worker) throws InterruptedException {
        for (int i = 0;
                i < 600
                        && keeper.state().workers().stream()
                                .noneMatch(seen -> seen.news().name().equals(worker));
                i++) {
            Thread.sleep(50);
        }
    }

    @Test
    void what_only_the_own_broker_can_do_is_refused() {
        assertThatThrownBy(() -> FarmQuestion.ask(broker.address(), FarmOrder.HOLD, "w", "x"))
                .hasMessageContaining("no worker can be held");
    }
}
