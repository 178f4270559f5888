// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.farm.broker.FarmBroker;
import io.kiln.farm.client.FarmClient;
import io.kiln.farm.client.FarmClient.JobTerms;
import io.kiln.farm.desk.FarmEvent;
import io.kiln.farm.desk.FarmEvent.Kind;
import io.kiln.farm.desk.Hold;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.job.FarmAnswer;
import io.kiln.farm.job.FarmAnswer.FarmResult;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.job.FarmJob.FarmTask;
import io.kiln.farm.job.FarmJob.JobFormat;
import io.kiln.farm.job.RunPlace;
import io.kiln.farm.lease.BoardLeases;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmMember;
import io.kiln.farm.link.FarmMessage;
import io.kiln.farm.link.FarmMessage.FarmOrder;
import io.kiln.farm.link.FarmMessage.Manner;
import io.kiln.farm.link.FarmQueues;
import io.kiln.farm.state.FarmKeeper;
import io.kiln.farm.state.FarmState;
import io.kiln.farm.state.FarmState.FarmQuestion;
import io.kiln.farm.state.FarmState.FarmUnit;
import io.kiln.farm.worker.Worker;
import io.kiln.farm.worker.WorkerSetup;
import io.kiln.farm.worker.WorkerSetup.Identity;
import io.kiln.farm.worker.WorkerSetup.JobRunner;
import io.kiln.farm.worker.WorkerSetup.Offer;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real broker gives jobs away as its desk wants, and keeps order among workers. */
final class FarmOrderTest {
    private static final Duration PATIENCE = Duration.ofSeconds(40);

    @TempDir
    private Path folder;

    private final List<FarmEvent> events = Collections.synchronizedList(new ArrayList<>());
    private final List<AutoCloseable> open = new ArrayList<>();
    private FarmBroker broker;

    @BeforeEach
    void startFarm() {
        broker = opened(FarmBroker.start(
                folder.resolve("farm"),
                FarmAddress.parse("tcp://localhost:0", DigestWorkerProgram.MEMBER),
                Log.QUIET,
                events::add));
        opened(new FarmKeeper(broker::link, broker.desk(), broker.address().url(), "1.1.0", Clock.systemUTC()).start());
    }

    @AfterEach
    void stopFarm() throws Exception {
        Collections.reverse(open);
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    private <T extends AutoCloseable> T opened(T it) {
        open.add(it);
        return it;
    }

    private FarmClient client(String project, String needs) {
        return opened(FarmClient.connect(
                broker.address(), FarmTerms.of(PATIENCE, project, Labels.parse("", needs)), Log.QUIET));
    }

    private Worker worker(String name, String labels, Offer offer, JobRunner runner, Log log) {
        Identity identity = new Identity(name, "1.0.0", Labels.parse("", labels));
        BoardLeases leases = new BoardLeases(folder, Clock.systemUTC(), BoardLeases.USUAL_TERM);
        return opened(
                Worker.start(new WorkerSetup(broker.address(), identity, List.of(offer), 1, leases), runner, log));
    }

    private Worker honest(String name, String labels) {
        return worker(name, labels, Offer.emulator("b", "test"), new DigestRunner(name), Log.QUIET);
    }

    private long count(Kind kind) {
        synchronized (events) {
            return events.stream().filter(event -> event.kind() == kind).count();
        }
    }

    private void await(Kind kind, long times) throws InterruptedException {
        for (int i = 0; i < 400 && count(kind) < times; i++) {
            Thread.sleep(50);
        }
        assertThat(count(kind)).as(kind.text() + " in " + events).isGreaterThanOrEqualTo(times);
    }

    @Test
    void a_queue_of_one_project_does_not_keep_another_waiting_and_the_urgent_come_first() throws Exception {
        FarmClient long1 = client("long", "");
        FarmClient short1 = client("short", "");
        FarmClient urgent = opened(FarmClient.connect(
                broker.address(), new JobTerms(PATIENCE, "long", 9, Labels.NONE, "1.0.0"), Log.QUIET));
        List<CompletableFuture<FarmResult>> all = new ArrayList<>();
        List<FarmJob> jobs = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            jobs.add(DigestRunner.digest("b", 1, "l" + i));
            all.add(long1.submit(jobs.get(i)));
        }
        for (int i = 0; i < 3; i++) {
            jobs.add(DigestRunner.digest("b", 1, "s" + i));
            all.add(short1.submit(jobs.get(12 + i)));
        }
        jobs.add(DigestRunner.digest("b", 1, "u"));
        all.add(urgent.submit(jobs.get(15)));
        honest("w", "");
        all.forEach(CompletableFuture::join);
        await(Kind.JOB_ANSWERED, 16);
        List<String> order;
        synchronized (events) {
            order = events.stream()
                    .filter(event -> event.kind() == Kind.JOB_TAKEN)
                    .map(event -> event.field("job"))
                    .toList();
        }
        assertThat(order.get(0)).isEqualTo(jobs.get(15).id());
        List<Integer> shorts = jobs.subList(12, 15).stream()
                .map(job -> order.indexOf(job.id()))
                .toList();
        assertThat(shorts).allMatch(at -> at <= 8);
        assertThat(broker.desk().oldestSeconds()).isZero();
        assertThat(count(Kind.JOB_SENT)).isEqualTo(16);
        assertThat(count(Kind.OTHER_VERSION)).isEqualTo(1);
    }

    /** Though it came first, and its project has had less. */
    @Test
    void a_nights_search_does_not_keep_a_verification_waiting() throws Exception {
        List<FarmJob> jobs = new ArrayList<>();
        List<CompletableFuture<FarmResult>> all = new ArrayList<>();
        for (String goal : List.of("tune", "tune", "tune", "verify")) {
            JobTerms terms = new JobTerms(PATIENCE, goal, JobTerms.usual(goal), Labels.NONE, "1.0.0");
            FarmClient client = opened(FarmClient.connect(broker.address(), terms, Log.QUIET));
            jobs.add(DigestRunner.digest("b", 1, goal + jobs.size()));
            all.add(client.submit(jobs.get(jobs.size() - 1)));
        }
        honest("w", "");
        all.forEach(CompletableFuture::join);
        await(Kind.JOB_TAKEN, 4);
        synchronized (events) {
            assertThat(events.stream()
                            .filter(event -> event.kind() == Kind.JOB_TAKEN)
                            .findFirst()
                            .orElseThrow()
                            .field("job"))
                    .isEqualTo(jobs.get(3).id());
        }
    }

    @Test
    void labels_and_maintenance_choose_the_worker() throws Exception {
        honest("plain", "");
        honest("real", "silicon=real");
        await(Kind.WORKER_JOINED, 2);
        FarmClient needing = client("a", "silicon=r*");
        for (int i = 0; i < 3; i++) {
            assertThat(needing.run(List.of(DigestRunner.digest("b", 1, "x" + i))))
                    .extracting(FarmResult::worker)
                    .containsExactly("real");
        }
        FarmState held = FarmQuestion.ask(broker.address(), FarmOrder.HOLD, "real", "new cable");
        assertThat(held.desk().held()).extracting(Hold::unit, Hold::reason).containsExactly(tuple("real", "new cable"));
        CompletableFuture<FarmResult> later = needing.submit(DigestRunner.digest("b", 1, "y"));
        assertThat(client("b", "").run(List.of(DigestRunner.digest("b", 1, "z"))))
                .extracting(FarmResult::worker)
                .containsExactly("plain");
        assertThat(later).isNotDone();
        assertThat(FarmQuestion.ask(broker.address(), FarmOrder.RELEASE, "real", "")
                        .desk()
                        .held())
                .isEmpty();
        assertThat(later.join().worker()).isEqualTo("real");
    }

    /** A build that waits for nobody says whom it could have. */
    @Test
    void a_job_that_nobody_may_have_says_who_is_there() throws Exception {
        worker(
                "bench",
                "room=3",
                Offer.board("b", "test", "left", Labels.parse("", "desk=1")),
                liar(new CountDownLatch(1)),
                Log.QUIET);
        honest("plain", "");
        await(Kind.WORKER_JOINED, 2);
        FarmClient client = opened(FarmClient.connect(
                broker.address(),
                FarmTerms.of(Duration.ofSeconds(1), "a", Labels.parse("", "room=4,board=nucleo-*")),
                Log.QUIET));
        assertThatThrownBy(() -> client.run(List.of(flash("i"))))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(
                        "no worker of the farm answered for 1 s; there are b (board, worker bench, probe left,"
                                + " desk=1,room=3)")
                .hasMessageContaining("expected a worker with b (board) and the labels board=nucleo-*,room=4");
    }

    /** By the results of real jobs, that is: images differ, and each failure may be the board's. */
    @Test
    void a_board_that_fails_three_images_gets_no_more_until_it_is_released() throws Exception {
        CountDownLatch repaired = new CountDownLatch(1);
        worker(
                "bench",
                "",
                Offer.board("b", "test", "left"),
                (job, offer) -> new JobRunner.Done(
                        "board",
                        repaired.getCount() == 0
                                ? new FarmAnswer.Flashed("tool", "left", 1, false, 1)
                                : new FarmAnswer.Failed(List.of(Failure.DEVICE.problem("it is silent", "left")))),
                Log.QUIET);
        FarmClient client = client("a", "");
        for (int i = 0; i < 3; i++) {
            assertThat(client.run(List.of(flash("image " + i))).get(0).answer()).isInstanceOf(FarmAnswer.Failed.class);
        }
        await(Kind.HELD, 1);
        CompletableFuture<FarmResult> later = client.submit(flash("image 4"));
        FarmState state = FarmQuestion.ask(broker.address());
        assertThat(state.desk().held())
                .extracting(Hold::unit, Hold::isQuarantine)
                .containsExactly(tuple("bench/left", true));
        assertThat(FarmUnit.of(state))
                .extracting(FarmUnit::text)
                .containsExactly("b (board, worker bench, probe left, in quarantine: 3 different jobs failed on it)");
        assertThat(later).isNotDone();
        repaired.countDown();
        FarmQuestion.ask(broker.address(), FarmOrder.RELEASE, "bench/left", "");
        assertThat(later.join().answer()).isInstanceOf(FarmAnswer.Flashed.class);
    }

    private static FarmJob flash(String image) {
        return FarmJob.of("b", RunPlace.BOARD, Duration.ofSeconds(9), Bytes.ofText(image), new FarmTask.Flash());
    }

    private static Tuple tuple(Object... values) {
        return Tuple.tuple(values);
    }

    /** It answers at once, and always the same. */
    private static JobRunner liar(CountDownLatch lies) {
        FarmAnswer two = new FarmAnswer.Counted(List.of(new FarmAnswer.Call(-5, 0)), Optional.empty());
        return (job, offer) -> {
            lies.countDown();
            return new JobRunner.Done("liar", two);
        };
    }

    @Test
    void a_lying_worker_is_refused_and_quarantined_and_the_jobs_are_answered() throws Exception {
        CountDownLatch lies = new CountDownLatch(1);
        worker("liar", "", Offer.emulator("b", "test"), liar(lies), Log.QUIET);
        FarmClient client = client("a", "");
        assertThatThrownBy(() -> client.run(List.of(DigestRunner.digest("b", 1, "x"))))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(
                        "workers of the farm gave 2 wrong answers, the last one liar: it answers something else than"
                                + " was asked");
        CompletableFuture<FarmResult> second = client.submit(DigestRunner.digest("b", 1, "y"));
        await(Kind.HELD, 1);
        honest("honest", "");
        assertThat(second.join().worker()).isEqualTo("honest");
        assertThat(broker.desk().held()).singleElement().satisfies(hold -> {
            assertThat(hold.unit()).isEqualTo("liar");
            assertThat(hold.reason()).startsWith("3 wrong answers, the last: it answers something else");
        });
        assertThat(count(Kind.STRIKE)).isEqualTo(3);
    }

    /** Neither reaches whoever waits, nor keeps the right one out. */
    @Test
    void forged_and_replayed_answers_are_refused() throws Exception {
        FarmClient client = client("a", "");
        FarmJob job = DigestRunner.digest("b", 1, "x");
        CompletableFuture<FarmResult> result = client.submit(job);
        try (FarmLink forger = FarmLink.open(broker.address(), new FarmMember("1.0.0", "forger", "0"))) {
            for (int i = 0; i < 3; i++) {
                forger.send(
                        FarmQueues.ANSWERS,
                        new FarmMessage(
                                Map.of(FarmQueues.JOB, job.id(), FarmQueues.CLIENT, FarmJob.newId()),
                                Bytes.ofText("forged"),
                                Manner.once(job.id(), PATIENCE)));
                forger.send(
                        FarmQueues.ANSWERS,
                        new FarmMessage(
                                Map.of(FarmQueues.JOB, FarmJob.newId(), FarmQueues.CLIENT, FarmJob.newId()),
                                Bytes.ofText("nobody asked"),
                                Manner.once(FarmJob.newId(), PATIENCE)));
            }
            forger.send(FarmQueues.NEWS, new FarmMessage(Map.of(), Bytes.ofText("{}"), Manner.fleeting(PATIENCE)));
            forger.send(
                    FarmQueues.QUESTIONS, new FarmMessage(Map.of(), Bytes.ofText("sudo"), Manner.fleeting(PATIENCE)));
        }
        await(Kind.ANSWER_REFUSED, 6);
        await(Kind.NEWS_REFUSED, 2);
        assertThat(broker.desk().held()).extracting(Hold::unit).containsExactly("forger");
        honest("honest", "");
        assertThat(((FarmAnswer.Ran) result.join().answer()).runs()).hasSize(1);
        assertThat(result.join().worker()).isEqualTo("honest");
    }

    /** A worker would answer it in good faith, for somebody who did not ask for that job; three of these would be three strikes. */
    @Test
    void a_job_under_the_id_of_somebody_elses_is_refused() throws Exception {
        FarmClient client = client("a", "");
        FarmJob job = DigestRunner.digest("b", 1, "x");
        CompletableFuture<FarmResult> result = client.submit(job);
        FarmMessage forged = new FarmMessage(
                Map.of(
                        FarmQueues.JOB,
                        job.id(),
                        FarmQueues.CLIENT,
                        FarmJob.newId(),
                        FarmQueues.BOARD,
                        "b",
                        FarmQueues.PLACE,
                        "emulator"),
                JobFormat.write(job),
                Manner.once(FarmJob.newId(), PATIENCE).at(9));
        try (FarmLink forger = FarmLink.open(broker.address())) {
            assertThatThrownBy(() -> forger.send(FarmQueues.JOBS, forged))
                    .hasMessageContaining("a job under the id of somebody else's");
        }
        assertThat(count(Kind.NEWS_REFUSED)).isEqualTo(1);
        honest("honest", "");
        assertThat(result.join().worker()).isEqualTo("honest");
        assertThat(count(Kind.STRIKE)).isZero();
    }

    @Test
    void a_worker_waits_for_a_broker_and_says_what_happens() throws Exception {
        FarmAddress address = broker.address();
        broker.close();
        KeptLog log = new KeptLog();
        Worker worker = worker(
                "early",
                "",
                Offer.board("b", "test", "probe"),
                (job, offer) -> {
                    FarmAnswer ran = new FarmAnswer.Flashed("tool", "probe", 1, false, 1);
                    return new JobRunner.Done("board", ran);
                },
                log);
        assertThat(log.warnings())
                .singleElement()
                .asString()
                .contains("nothing listens there")
                .endsWith("Waiting for it");
        try (FarmBroker later = FarmBroker.start(folder.resolve("farm"), address, Log.QUIET, events::add)) {
            try (FarmClient client = FarmClient.connect(address, FarmTerms.of(PATIENCE), Log.QUIET)) {
                assertThat(client.run(List.of(flash("i"))).get(0).worker()).isEqualTo("early");
            }
            worker.close();
            assertThat(later.desk().held()).isEmpty();
        }
        assertThat(log.said()).anyMatch(line -> line.startsWith("event=broker_found broker=tcp://localhost:"));
        assertThat(log.said()).anyMatch(line -> line.equals("event=lease_taken probe=probe"));
        assertThat(log.said()).anyMatch(line -> line.startsWith("event=job_taken job="));
        assertThat(log.said())
                .anyMatch(line -> line.startsWith("event=job_answered job=") && line.contains(" result=done seconds="));
    }
}
