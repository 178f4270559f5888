// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.Log;
import io.kiln.device.flash.TestOpenOcd;
import io.kiln.farm.desk.FarmEvent;
import io.kiln.farm.desk.FarmEvent.Kind;
import io.kiln.farm.job.FarmAnswer.Failed;
import io.kiln.farm.job.FarmAnswer.Ran;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.job.FarmJob.FarmTask;
import io.kiln.farm.job.RunPlace;
import io.kiln.farm.state.BoardHistory;
import io.kiln.farm.worker.WorkerSetup.JobRunner.Done;
import io.kiln.farm.worker.WorkerSetup.Offer;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.worker.WorkerJobs.PowerSwitch;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A board that cannot be flashed until its power was cycled, and what its worker remembers of it. */
final class BoardCareTest {
    private static final String BOARD = "virtual-stm32f405";

    @TempDir
    private static Path folder;

    private static Bytes image;

    private final List<FarmEvent> events = new ArrayList<>();

    @BeforeAll
    static void build() throws IOException {
        TestOpenOcd.get();
        TestPrograms.need("qemu-system-arm");
        GestureProject project = new GestureProject(folder.resolve("gesture"));
        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET))
                .build(project.spec(BOARD).verify(GestureProject.UNVERIFIED).build(), DeviceSpec.USUAL);
        image = Bytes.wrap(Files.readAllBytes(project.out("gesture.elf")));
    }

    private static Path script(String name, String text) throws IOException {
        Path file = Files.writeString(folder.resolve(name), "#!/bin/sh\n" + text);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
    }

    /** OpenOCD that finds the board only if a file is there. */
    private static String openOcd(Path power) throws IOException {
        return script("openocd-" + power.getFileName(), String.format(Locale.ROOT, """
            case "$*" in *-version*) exec openocd "$@" ;; esac
            [ -e '%s' ] && exec openocd "$@"
            echo 'Error: no device found' >&2
            exit 1
            """, power))
                .toString();
    }

    private WorkerJobs jobs(String openOcd, Optional<String> power) {
        return new WorkerJobs(
                Boards.builtIn(), openOcd, folder.resolve("worker"), power.map(PowerSwitch::of), events::add);
    }

    private static FarmJob job() throws IOException {
        Bytes input = Bytes.wrap(Files.readAllBytes(GestureProject.VECTORS.resolve("input_0.bin")));
        FarmTask run = new FarmTask.Run(List.of(new FarmTask.Call(0, List.of(input))));
        return FarmJob.of(BOARD, RunPlace.BOARD, Duration.ofSeconds(60), image, run);
    }

    @Test
    void a_board_without_power_gets_it_once_and_answers() throws IOException {
        Path power = folder.resolve("on");
        Path switched = folder.resolve("switched");
        Path cycle = script("cycle", "echo \"$@\" >>'" + switched + "'\ntouch '" + power + "'\n");
        Offer board = Offer.board(BOARD, "cortex-m4", "left");
        WorkerJobs jobs = jobs(openOcd(power), Optional.of(cycle + " {board} --probe={probe}"));
        Done done = jobs.run(job(), board);
        assertThat(done.answer())
                .isInstanceOfSatisfying(
                        Ran.class, ran -> assertThat(ran.failure()).isEmpty());
        assertThat(Files.readAllLines(switched)).containsExactly(BOARD + " --probe=left");
        assertThat(done.ranOn()).endsWith(", its power was cycled");
        assertThat(done.console().text()).contains("[its power was cycled]").contains("gesture");
        assertThat(events).singleElement().satisfies(event -> {
            assertThat(event.kind()).isEqualTo(Kind.POWER_CYCLED);
            assertThat(event.field("result")).isEqualTo("its power was cycled");
            assertThat(event.field("reason")).isNotEmpty();
        });
        // Another worker process finds the same history.
        BoardHistory history = jobs("openocd", Optional.empty()).history(board).orElseThrow();
        assertThat(history.counts()).isEqualTo(new BoardHistory.Counts(1, 0, 1, 1));
        assertThat(history.last().image()).hasSize(64);
        jobs.run(job(), board);
        BoardHistory next = jobs.history(board).orElseThrow();
        assertThat(next.counts()).isEqualTo(new BoardHistory.Counts(2, 0, 1, 1));
        assertThat(next.since()).isEqualTo(history.since());
        assertThat(Files.readAllLines(switched)).hasSize(1);
    }

    @Test
    void a_switch_that_fails_is_told() throws IOException {
        Path hub = script("hub", "echo 'no hub here' >&2\nexit 3\n");
        Offer board = Offer.board(BOARD, "cortex-m4", "right");
        WorkerJobs jobs = jobs(openOcd(folder.resolve("off")), Optional.of(hub.toString()));
        Done done = jobs.run(job(), board);
        assertThat(done.answer())
                .isInstanceOfSatisfying(
                        Failed.class,
                        failed -> assertThat(failed.problems().get(0).what())
                                .endsWith("; its power could not be cycled: `" + hub + "` ended with 3: no hub here"));
        assertThat(jobs.history(board).orElseThrow().counts()).isEqualTo(new BoardHistory.Counts(1, 1, 0, 1));
        assertThat(jobs.history(board).orElseThrow().last().failure()).isNotEmpty();
        assertThat(events).hasSize(1);
    }

    @Test
    void a_switch_is_stopped_at_its_limit_and_may_be_missing() {
        Offer board = Offer.board(BOARD, "cortex-m4", "x");
        assertThat(new PowerSwitch(List.of("sleep", "60"), Duration.ofMillis(200)).cycle(board))
                .startsWith("its power could not be cycled: `sleep` did not end within");
        assertThat(PowerSwitch.of("no-such-program-of-this-test {probe}").cycle(board))
                .startsWith("its power could not be cycled: ");
    }
}
