// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.farm;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.Log;
import io.kiln.farm.FarmTerms;
import io.kiln.farm.QpidBrokerProgram;
import io.kiln.farm.broker.FarmBroker;
import io.kiln.farm.client.FarmClient;
import io.kiln.farm.desk.FarmDesk;
import io.kiln.farm.job.FarmAnswer;
import io.kiln.farm.job.FarmAnswer.GivenUp;
import io.kiln.farm.job.FarmAnswer.Ran;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.job.FarmResult;
import io.kiln.farm.job.FarmTask;
import io.kiln.farm.job.RunPlace;
import io.kiln.farm.lease.BoardLease;
import io.kiln.farm.lease.BoardLeases;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmQueues;
import io.kiln.farm.state.FarmKeeper;
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
import java.security.GeneralSecurityException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code -Dkiln.farm.soak}: eight workers in processes of their own, with QEMU and four virtual boards, answer a thousand jobs while 30 of them are
 * killed and the broker is restarted twice: with Kiln's own broker, and with one of another make, which is killed. A number as the property's value takes so many jobs, and kills in proportion.
 */
@EnabledIfSystemProperty(named = "kiln.farm.soak", matches = ".*")
final class FarmSoakTest {
    private static final int JOBS = Integer.getInteger("kiln.farm.soak", 1000);
    private static final int JOBS_PER_BOARD_JOB = 25;
    private static final int KILLS = JOBS * 3 / 100;
    private static final int WORKERS = 8;
    private static final int BOARDS = 4;

    @TempDir
    private Path folder;

    private Broker broker;
    private final Map<Integer, RunningProcess> workers = new TreeMap<>();

    /** A broker that ends in its way and starts again. */
    private interface Broker {
        FarmAddress address();

        FarmKeeper keeper();

        void stop();

        Broker again() throws IOException;
    }

    /** Kiln's own, which is stopped. */
    private record Own(FarmBroker engine, FarmKeeper keeper, Path folder) implements Broker {
        static Own start(Path folder, FarmAddress at) {
            FarmBroker engine = FarmBroker.start(folder, at, Log.QUIET, event -> {});
            FarmKeeper keeper =
                    new FarmKeeper(engine::link, engine.desk(), engine.address().url(), "1.0.0", Clock.systemUTC());
            return new Own(engine, keeper.start(), folder);
        }

        @Override
        public FarmAddress address() {
            return engine.address();
        }

        @Override
        public void stop() {
            keeper.close();
            engine.close();
        }

        @Override
        public Broker again() {
            return start(folder, address());
        }
    }

    /** One of another make, which is killed. */
    private record Foreign(QpidBrokerProgram program, FarmKeeper keeper) implements Broker {
        static Foreign start(Path folder) throws IOException, GeneralSecurityException {
            QpidBrokerProgram program = QpidBrokerProgram.start(folder);
            FarmDesk desk = new FarmDesk(folder, Clock.systemUTC(), event -> {});
            return new Foreign(
                    program,
                    FarmKeeper.outside(program.address(), desk, "1.0.0", Clock.systemUTC())
                            .start());
        }

        @Override
        public FarmAddress address() {
            return program.address();
        }

        @Override
        public void stop() {
            program.kill();
        }

        @Override
        public Broker again() throws IOException {
            return new Foreign(program.again(), keeper);
        }
    }

    private Path home() {
        return folder.resolve("home");
    }

    private void fork(int number) {
        String board = number < BOARDS ? "board-" + number : "";
        workers.put(number, BenchWorkerProgram.fork(broker.address(), "w" + number, board, home()));
    }

    private Bytes image(String board) throws IOException {
        GestureProject project = new GestureProject(folder.resolve(board));
        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET))
                .build(project.spec(board).verify(GestureProject.UNVERIFIED).build(), DeviceSpec.USUAL);
        return Bytes.wrap(Files.readAllBytes(project.out("gesture.elf")));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void every_job_is_answered_once_whatever_dies(boolean isForeign) throws Exception {
        Files.createDirectories(home().resolve("tmp"));
        Path queues = folder.resolve("broker");
        broker = isForeign
                ? Foreign.start(queues)
                : Own.start(queues, FarmAddress.parse("tcp://localhost:0", BenchWorkerProgram.MEMBER));
        Bytes emulated = image("mps2-an386");
        Bytes flashed = image("virtual-stm32f405");
        FarmTask run = new FarmTask.Run(List.of(new FarmTask.Call(0, input())));
        IntStream.range(0, WORKERS).forEach(this::fork);
        FarmClient client = FarmClient.connect(broker.address(), FarmTerms.of(Duration.ofMinutes(10)), Log.QUIET);
        List<CompletableFuture<FarmResult>> results = new ArrayList<>();
        for (int i = 0; i < JOBS; i++) {
            boolean isBoard = i % JOBS_PER_BOARD_JOB == 0;
            results.add(client.submit(FarmJob.of(
                    isBoard ? "virtual-stm32f405" : "mps2-an386",
                    isBoard ? RunPlace.BOARD : RunPlace.EMULATOR,
                    Duration.ofSeconds(60),
                    isBoard ? flashed : emulated,
                    run)));
        }
        disturb(results);
        List<FarmAnswer> answers = results.stream()
                .map(CompletableFuture::join)
                .map(FarmResult::answer)
                .toList();
        client.close();
        check(answers);
    }

    private static List<Bytes> input() throws IOException {
        return List.of(Bytes.wrap(Files.readAllBytes(GestureProject.VECTORS.resolve("input_0.bin"))));
    }

    /** Kills and restarts spread over the jobs. */
    private void disturb(List<CompletableFuture<FarmResult>> results) throws InterruptedException, IOException {
        Random random = new Random(7);
        for (int kill = 0; kill < KILLS; kill++) {
            results.get((kill + 1) * (JOBS / (KILLS + 2))).join();
            int victim = random.nextInt(WORKERS);
            RunningProcess worker = workers.get(victim);
            ProcessHandle.of(worker.pid()).ifPresent(ProcessHandle::destroyForcibly);
            worker.close();
            fork(victim);
            if (kill == KILLS / 3 || kill == 2 * KILLS / 3) {
                broker.stop();
                broker = broker.again();
            }
        }
    }

    private void check(List<FarmAnswer> answers) throws IOException {
        long givenUp = answers.stream().filter(GivenUp.class::isInstance).count();
        List<FarmAnswer> ran = answers.stream().filter(Ran.class::isInstance).toList();
        System.out.println(
                "Answered " + ran.size() + ", given up after two kills " + givenUp + ", of " + answers.size());
        assertThat(ran.size() + givenUp).isEqualTo(JOBS);
        assertThat(givenUp).isLessThanOrEqualTo(KILLS / 2);
        List<Bytes> expected = Interpreter.run(
                TfliteFrontend.read(Bytes.wrap(Files.readAllBytes(GestureProject.MODEL)), "gesture", "gesture"),
                input());
        assertThat(ran).allSatisfy(answer -> {
            assertThat(((Ran) answer).failure()).isEmpty();
            assertThat(((Ran) answer).runs().get(0).bytes()).isEqualTo(expected);
        });
        workers.values().forEach(RunningProcess::close);
        try (FarmLink link = FarmLink.open(broker.address())) {
            for (String queue : List.of(FarmQueues.JOBS, FarmQueues.ANSWERS, FarmQueues.DEAD)) {
                assertThat(link.browse(queue, 1)).isEmpty();
            }
        }
        broker.keeper().close();
        broker.stop();
        assertThat(ProcessHandle.allProcesses()
                        .filter(process -> process.info()
                                .commandLine()
                                .filter(line -> line.contains(home().toString()))
                                .isPresent()))
                .isEmpty();
        Clock later = Clock.offset(Clock.systemUTC(), BoardLeases.USUAL_TERM);
        BoardLeases leases = new BoardLeases(home().resolve("leases"), later, BoardLeases.USUAL_TERM);
        for (int i = 0; i < BOARDS; i++) {
            Optional<BoardLease> lease = leases.take("board-" + i);
            assertThat(lease).isPresent();
            lease.get().close();
        }
    }
}
