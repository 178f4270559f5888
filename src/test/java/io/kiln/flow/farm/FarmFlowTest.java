// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.farm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.artifact.ExecutorKind;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.device.flash.TestOpenOcd;
import io.kiln.farm.FarmTerms;
import io.kiln.farm.broker.FarmBroker;
import io.kiln.farm.client.FarmClient;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.job.FarmAnswer.Failed;
import io.kiln.farm.job.FarmAnswer.FarmResult;
import io.kiln.farm.job.FarmAnswer.Ran;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.job.FarmJob.FarmTask;
import io.kiln.farm.job.RunPlace;
import io.kiln.farm.lease.BoardLeases;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmMessage.FarmOrder;
import io.kiln.farm.state.FarmKeeper;
import io.kiln.farm.state.FarmState.FarmUnit;
import io.kiln.farm.worker.Worker;
import io.kiln.farm.worker.WorkerSetup;
import io.kiln.farm.worker.WorkerSetup.Identity;
import io.kiln.farm.worker.WorkerSetup.JobRunner.Done;
import io.kiln.farm.worker.WorkerSetup.Offer;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.farm.FarmRuns.AnsweredSession;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.DeviceSpec.FlashSpec;
import io.kiln.flow.spec.FarmUse;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.flow.spec.TuneSpec;
import io.kiln.flow.spec.TuneSpec.Limits;
import io.kiln.flow.spec.WorkerSpec;
import io.kiln.flow.spec.WorkerSpec.Device;
import io.kiln.flow.worker.FarmStep;
import io.kiln.flow.worker.WorkerStep;
import io.kiln.process.TestPrograms;
import io.kiln.report.JsonSchemas;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.tuning.record.RecordReader;
import io.kiln.tuning.record.TuningRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Builds whose images run on a farm: a broker, and a worker with the real QEMU and a virtual board that the real OpenOCD flashes. */
final class FarmFlowTest {
    @TempDir
    private static Path folder;

    private static final KeptLog LOG = new KeptLog();

    private static FarmBroker broker;
    private static FarmKeeper keeper;
    private static Worker worker;
    private static Flow flow;

    @BeforeAll
    static void startFarm() {
        TestOpenOcd.get();
        TestPrograms.need("qemu-system-arm");
        broker = FarmBroker.start(
                folder.resolve("broker"),
                FarmAddress.parse("tcp://localhost:0", BenchWorkerProgram.MEMBER),
                LOG,
                event -> {});
        keeper =
                new FarmKeeper(broker::link, broker.desk(), broker.address().url(), "1.0.0", Clock.systemUTC()).start();
        worker = new WorkerStep(LOG, Boards.builtIn(), offer("bench", "mps2-an386", "first")).start();
        flow = new Flow(LOG, TestToolchains.environment(LOG));
    }

    private static WorkerSpec offer(String name, String emulator, String board) {
        return new WorkerSpec(
                broker.address(),
                new Identity(name, "1.0.0", Labels.NONE),
                List.of(emulator, "virtual-stm32f405"),
                2,
                List.of(new Device("virtual-stm32f405", board)),
                WorkerSpec.Care.USUAL,
                folder.resolve("home"));
    }

    @AfterAll
    static void stopFarm() {
        worker.close();
        keeper.close();
        broker.close();
    }

    private static GestureProject project(String name) {
        return new GestureProject(folder.resolve(name));
    }

    private static BuildSpec spec(GestureProject project, String board, VerifyOn on) {
        return project.spec(board)
                .verify(new VerifySpec(on, Optional.empty(), 2, 0))
                .farm(Optional.of(new FarmUse(broker.address(), FarmTerms.of(Duration.ofSeconds(60)))))
                .build();
    }

    @Test
    void an_emulator_of_the_farm_gives_the_same_answers_and_counts() throws IOException {
        GestureProject project = project("emulated");
        BuildSpec spec = spec(project, "mps2-an386", VerifyOn.EMULATOR);
        flow.build(spec, DeviceSpec.USUAL);
        JsonNode verified = project.json("kiln/verify.json");
        assertThat(verified.path("ranOn").asText()).isEqualTo("qemu-system-arm mps2-an386, worker bench");
        assertThat(verified.path("bitExact").asBoolean()).isTrue();
        assertThat(verified.path("cases")).hasSize(2);
        long stack = project.json("kiln/report.json").at("/stack/used").asLong();
        assertThat(stack).isBetween(100L, 1000L);
        flow.profile(spec);
        JsonNode far = project.json("kiln/profile.json");
        assertThat(project.json("kiln/report.json").at("/stack/used").asLong()).isEqualTo(stack);
        assertThat(far.path("ranOn").asText())
                .endsWith("of the farm " + broker.address().url());
        flow.profile(SpecDraft.of(spec).farm(Optional.empty()).build());
        JsonNode near = project.json("kiln/profile.json");
        assertThat(far.path("instructions")).isEqualTo(near.path("instructions"));
        // A farm's answer has counts of blocks without their order, on which the board's cycles depend.
        near.path("operators").forEach(operator -> ((ObjectNode) operator).remove("boardCycles"));
        assertThat(far.path("operators")).isEqualTo(near.path("operators"));
    }

    @Test
    void a_search_on_the_farm_measures_what_one_at_home_does() throws IOException {
        GestureProject far = project("far");
        GestureProject near = project("near");
        TuneSpec tune =
                TuneSpec.of("random", Optional.of("instructions"), new Limits(2, 0, 60, 0), 3, List.of(), false);
        flow.tune(spec(far, "mps2-an386", VerifyOn.NONE), tune, Optional.empty());
        flow.tune(
                SpecDraft.of(spec(near, "mps2-an386", VerifyOn.NONE))
                        .farm(Optional.empty())
                        .build(),
                tune,
                Optional.empty());
        assertThat(measured(far)).hasSize(8 + 2).isEqualTo(measured(near));
    }

    /** All but the times of day. */
    private static List<String> measured(GestureProject project) {
        return RecordReader.read(project.folder().resolve("src/main/tuning/mps2-an386.log")).records().stream()
                .map(FarmFlowTest::text)
                .toList();
    }

    private static String text(TuningRecord record) {
        return record.task() + " " + record.config() + " " + record.result().error() + " "
                + (record.result().isMeasured() ? record.result().mean() : 0);
    }

    @Test
    void a_board_of_the_farm_is_flashed_and_answers() throws Exception {
        GestureProject project = project("flashed");
        BuildSpec spec = spec(project, "virtual-stm32f405", VerifyOn.BOARD);
        flow.buildAndFlash(spec, FlashSpec.USUAL);
        assertThat(project.json("kiln/flash.json").path(0).path("result").asText())
                .isEqualTo("flashed");
        assertThat(LOG.said()).anyMatch(line -> line.contains("virtual-stm32f405, probe first, worker bench"));
        flow.verify(spec, DeviceSpec.USUAL);
        assertThat(project.json("kiln/verify.json").path("ranOn").asText())
                .startsWith("virtual-stm32f405, probe first")
                .endsWith("worker bench");
        assertThat(project.json("kiln/verify.json").path("passed").asBoolean()).isTrue();
        Path printed = project.out("kiln/verify.log");
        assertThat(Files.readString(printed)).contains("gesture");
        assertThat(LOG.said()).contains("What the board printed: " + printed);
        FarmStep step = new FarmStep(LOG, folder.resolve("history"));
        for (int tries = 0; tries < 300 && !isRemembered(); tries++) {
            Thread.sleep(100);
        }
        step.show(broker.address(), FarmOrder.STATE, "");
        JsonSchemas.assertFits("farm", Files.readString(folder.resolve("history/farm.json")));
        assertThat(LOG.said())
                .anyMatch(line -> line.matches(
                        " {2}board virtual-stm32f405, probe first, since .*: [0-9]+ jobs, 0 failed, flashed"
                                + " [0-9]+ times, power cycled 0 times"));
    }

    private static boolean isRemembered() {
        return keeper.state().workers().stream()
                .flatMap(seen -> seen.news().histories().stream())
                .anyMatch(history -> history.counts().jobs() > 0);
    }

    @Test
    void what_a_board_printed_acts_on_no_terminal() throws IOException {
        GestureProject project = project("printed");
        Path image = Files.writeString(folder.resolve("image"), "x");
        String said = "x".repeat(FarmResult.MOST_CONSOLE) + "\u001b[31mred\r\n\u202e";
        WorkerSetup setup = new WorkerSetup(
                broker.address(),
                new Identity("printer", "1.0.0", Labels.NONE),
                List.of(Offer.board("nucleo-f446re", "cortex-m4", "p")),
                1,
                new BoardLeases(folder.resolve("leases"), Clock.systemUTC(), BoardLeases.USUAL_TERM));
        Path printed = folder.resolve("printed.log");
        FarmUse use = new FarmUse(broker.address(), FarmTerms.of(Duration.ofSeconds(60)));
        try (Worker printer = Worker.start(
                        setup,
                        (job, offer) -> new Done(
                                "p",
                                new Failed(List.of(Failure.FLASH.problem("cannot be flashed", ""))),
                                Bytes.ofText(said)),
                        LOG);
                FarmRuns farm = FarmRuns.open(use, Log.QUIET, printed)) {
            Board board = project.spec("nucleo-f446re").build().boards().find("nucleo-f446re");
            assertThatThrownBy(() -> farm.flash(board, Duration.ofSeconds(9), image))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("cannot be flashed");
            assertThat(printer.done()).isLessThanOrEqualTo(1);
        }
        assertThat(Files.readString(printed))
                .hasSizeLessThan(FarmResult.MOST_CONSOLE)
                .contains("\\u001b[31mred", "\\u202e")
                .matches("(?s)[\\x20-\\x7e\n…]*");
    }

    /** In a virtual board an instruction takes a nanosecond, wherever it is. */
    @Test
    void a_board_of_the_farm_measures_time_as_one_at_home_does() throws IOException {
        GestureProject project = project("timed");
        BuildSpec spec = SpecDraft.of(spec(project, "virtual-stm32f405", VerifyOn.NONE))
                .application("rpc")
                .executor(ExecutorKind.GRAPH, true)
                .build();
        flow.profile(spec, DeviceSpec.USUAL);
        JsonNode far = project.json("kiln/profile.json");
        assertThat(far.path("ranOn").asText()).endsWith("worker bench");
        flow.profile(SpecDraft.of(spec).farm(Optional.empty()).build(), DeviceSpec.USUAL);
        JsonNode near = project.json("kiln/profile.json");
        assertThat(far.path("operators")).hasSizeGreaterThan(2).isEqualTo(near.path("operators"));
        assertThat(far.path("times")).isEqualTo(near.path("times"));
    }

    @Test
    void boards_of_the_farm_measure_candidates() {
        GestureProject project = project("candidates");
        TuneSpec tune = TuneSpec.of("random", Optional.of("time"), new Limits(1, 0, 60, 0), 3, List.of(), false);
        flow.tune(spec(project, "virtual-stm32f405", VerifyOn.NONE), tune, Optional.of(DeviceSpec.USUAL));
        List<TuningRecord> records = RecordReader.read(
                        project.folder().resolve("src/main/tuning/virtual-stm32f405.log"))
                .records();
        assertThat(records).hasSize(4).allSatisfy(record -> {
            assertThat(record.result().isMeasured()).isTrue();
            assertThat(record.result().mean()).isBetween(1e-7, 1e-3);
        });
    }

    /** The second worker of this computer sees the board, too. */
    @Test
    void a_board_is_leased_by_one_worker() throws Exception {
        WorkerSpec second = offer("second", "mps2-an385", "first");
        Worker other = new WorkerStep(LOG, Boards.builtIn(), second).start();
        other.close();
        assertThat(keeper.state().workers())
                .filteredOn(seen -> seen.news().name().equals("second"))
                .allSatisfy(seen -> assertThat(seen.news().offers())
                        .filteredOn(offer -> offer.place().equals("board"))
                        .allMatch(offer -> offer.state().equals("leased elsewhere")));
        // A worker tells about itself from a thread of its own, after its start, and while another one had the board,
        // it was leased.
        String free = "virtual-stm32f405 (board, worker bench, probe first, silicon=virtual)";
        for (int tries = 0; tries < 300 && !units().contains(free); tries++) {
            Thread.sleep(100);
        }
        FarmStep step = new FarmStep(LOG, folder.resolve("state"));
        step.show(broker.address(), FarmOrder.STATE, "");
        assertThat(units()).contains(free);
        JsonSchemas.assertFits("farm", Files.readString(folder.resolve("state/farm.json")));
        assertThat(Files.readString(folder.resolve("state/farm.html"))).contains("<h2>Workers</h2>", "bench");
        assertThat(LOG.said()).anyMatch(line -> line.startsWith("Worker bench on "));
    }

    private static List<String> units() {
        return FarmUnit.of(keeper.state()).stream().map(FarmUnit::text).toList();
    }

    @Test
    void a_worker_runs_nothing_but_images_of_its_boards() {
        try (FarmClient client =
                FarmClient.connect(broker.address(), FarmTerms.of(Duration.ofSeconds(60)), Log.QUIET)) {
            FarmTask run = new FarmTask.Run(List.of(new FarmTask.Call(0, List.of())));
            FarmJob script = FarmJob.of(
                    "mps2-an386",
                    RunPlace.EMULATOR,
                    Duration.ofSeconds(5),
                    Bytes.ofText("#!/bin/sh\ntouch owned\n"),
                    run);
            FarmJob flash = FarmJob.of(
                    "mps2-an386",
                    RunPlace.EMULATOR,
                    Duration.ofSeconds(5),
                    Bytes.ofText("\177ELF"),
                    new FarmTask.Flash());
            assertThat(client.run(List.of(script, flash)))
                    .allSatisfy(result -> assertThat(result.answer()).isInstanceOf(Failed.class));
        }
    }

    @Test
    void what_the_board_is_not_for_is_refused() {
        BuildSpec spec = spec(project("host"), "mps2-an386", VerifyOn.EMULATOR);
        assertThatThrownBy(() -> new WorkerStep(LOG, spec.boards(), offer("h", "host", "x")).start())
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the board host has no emulator of its own");
        assertThat(new AnsweredSession(new Ran(List.of(), List.of(), List.of(), OptionalLong.empty())))
                .satisfies(session -> assertThatThrownBy(session::models)
                        .isInstanceOf(KilnException.class)
                        .hasMessageContaining("the farm left out runs"));
    }
}
