// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.flow.BoardFlow;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BoardSpec;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A build on a disk that becomes full at this and that step. */
final class DiskFullTest {
    private static final int DISK = 8 << 20;
    private static final int BLOCK = 4096;

    @TempDir
    private Path folder;

    private Path disk;
    private Path filler;
    private Flow flow;

    @BeforeEach
    void mount() throws IOException {
        TestToolchains.resolve("gnu", Boards.builtIn().find("mps2-an386").target());
        disk = Files.createDirectory(folder.resolve("disk"));
        boolean isMounted = run("mount", "-t", "tmpfs", "-o", "size=" + DISK, "kiln-test", disk.toString());
        Assumptions.assumeTrue(
                isMounted || "true".equals(System.getenv("CI")), "a small file system cannot be mounted here");
        assertThat(isMounted).isTrue();
        filler = disk.resolve("filler");
        flow = new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET));
    }

    @AfterEach
    void unmount() {
        run("umount", disk.toString());
    }

    @Test
    void everyStepSaysSoAndLeavesNothingHalfWritten() throws IOException {
        // Generated sources, the C project, objects, the image.
        for (int free : List.of(40_000, 1_100_000, 1_400_000, 1_450_000)) {
            leave(free);
            Throwable thrown = catchThrowable(() -> flow.build(spec(), DeviceSpec.USUAL));
            assertThat(thrown).as("%d bytes free", free).isInstanceOf(KilnException.class);
            assertThat(thrown.getMessage()).as("%d bytes free", free).contains("no space left on the disk");
            assertThat(files()).noneMatch(file -> file.toString().endsWith(".part"));
            assertThat(disk.resolve("out/gesture.elf")).doesNotExist();
        }
        Files.delete(filler);
        flow.build(spec(), DeviceSpec.USUAL);
        assertThat(disk.resolve("out/gesture.elf")).exists();
    }

    @Test
    void halfABoardIsTakenAway() throws IOException {
        leave(2 * BLOCK);
        BoardFlow boards = new BoardFlow(Log.QUIET, TestToolchains.environment(Log.QUIET));
        Throwable thrown = catchThrowable(() -> boards.newBoard(board(), "mine", disk.resolve("src/main/boards")));
        assertThat(thrown).isInstanceOf(KilnException.class).hasMessageContaining("no space left on the disk");
        assertThat(disk.resolve("src/main/boards/mine")).doesNotExist();
        Files.delete(filler);
        boards.newBoard(board(), "mine", disk.resolve("src/main/boards"));
        assertThat(disk.resolve("src/main/boards/mine/board.yaml")).exists();
    }

    private BoardSpec board() {
        return new BoardSpec(spec().board(), spec().boards(), Optional.empty());
    }

    /** Fills the disk up to so many bytes. */
    private void leave(int free) throws IOException {
        Files.deleteIfExists(filler);
        long usable = Files.getFileStore(disk).getUsableSpace();
        Files.write(filler, new byte[(int) Math.max(0, usable - free)]);
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> walk = Files.walk(disk)) {
            return walk.filter(Files::isRegularFile).toList();
        }
    }

    private static boolean run(String... line) {
        try {
            return ProcessRunner.run(Command.ofLine(List.of(line)).within(Duration.ofSeconds(20)))
                    .succeeded();
        } catch (KilnException e) {
            return false;
        }
    }

    private BuildSpec spec() {
        return new GestureProject(disk).gnu("mps2-an386");
    }
}
