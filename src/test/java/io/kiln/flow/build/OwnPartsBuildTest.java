// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KeptLog;
import io.kiln.base.Log;
import io.kiln.firmware.OwnParts;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.ImageSpec.CodeSpec;
import io.kiln.flow.spec.UpdateSpec;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Builds whose project has something in place of the board's. */
final class OwnPartsBuildTest {
    @TempDir
    private Path folder;

    private GestureProject behindAVendorsStartUpCode() throws IOException {
        Path code = Files.createDirectories(folder.resolve("src/main/c"));
        for (String file : new String[] {"startup_mps2.s", "system_mps2.c", "mps2_hal.h"}) {
            Files.copy(Path.of("src/test/resources/hal/cube", file), code.resolve(file));
        }
        return new GestureProject(folder);
    }

    /** The board's image has a vendor's start-up code; the proof runs on the stand-in, behind the same code. */
    @Test
    void aModelBehindAVendorsStartUpCodeIsVerifiedAndBecomesALibrary() throws IOException {
        TestPrograms.need("qemu-system-arm");
        GestureProject project = behindAVendorsStartUpCode();
        BuildSpec spec = project.spec("nucleo-f446re")
                .code(CodeSpec.NONE.with(OwnParts.of("library", "own", Optional.empty(), "board")))
                .build();
        KeptLog log = new KeptLog();
        new Flow(log, TestToolchains.environment(Log.QUIET)).build(spec, DeviceSpec.USUAL);
        assertThat(log.said()).noneMatch(line -> line.contains("warning"));
        assertThat(project.json("kiln/verify.json").path("bitExact").asBoolean())
                .isTrue();
        assertThat(project.text("gesture.map")).contains("g_pfnVectors").doesNotContain("board/startup.c");
        assertThat(project.out("library/libgesture.a")).exists();
        assertThat(project.text("library/include/tvmgen_gesture.h")).contains("tvmgen_gesture_run");
    }

    /** A vendor's script has no guard below the stack; Kiln's code then names one that nothing defines, which is no address. */
    @Test
    void theStackOfAVendorsLinkerScriptIsMeasured() throws IOException {
        TestPrograms.need("qemu-system-arm");
        Path script = Path.of("src/test/resources/hal/cube/MPS2_FLASH.ld").toAbsolutePath();
        GestureProject project = behindAVendorsStartUpCode();
        Files.writeString(folder.resolve("src/main/c/main.c"), """
            #include "kiln_console.h"
            int main(void) {
              kiln_board_exit(7);
            }
            """);
        BuildSpec spec = project.spec("mps2-an386")
                .code(CodeSpec.NONE.with(OwnParts.of("image", "own", Optional.of(script), "board")))
                .build();
        Flow flow = new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET));
        assertThatThrownBy(() -> flow.build(spec, DeviceSpec.USUAL))
                .hasMessageContaining("the project's own program failed: it ended with code 7");
    }

    /** The default application could not be heard: its image has the board's console. */
    @Test
    void aModelOfAProgramWithoutAConsoleIsVerifiedAllTheSame() throws IOException {
        TestPrograms.need("qemu-system-arm");
        GestureProject project = new GestureProject(folder);
        BuildSpec spec = project.spec("mps2-an386")
                .code(CodeSpec.NONE.with(OwnParts.of("image", "board", Optional.empty(), "none")))
                .build();
        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET)).build(spec, DeviceSpec.USUAL);
        assertThat(project.json("kiln/verify.json").path("bitExact").asBoolean())
                .isTrue();
        assertThat(project.text("gesture.map")).contains("own_console.c");
        assertThat(project.out("library")).doesNotExist();
    }

    @Test
    void aLinkerScriptOfTheProjectsHasNoPlaceForSlots() throws IOException {
        Path script = Files.writeString(folder.resolve("own.ld"), "MEMORY { }\n");
        BuildSpec spec = new GestureProject(folder)
                .spec("mps2-an386")
                .update(new UpdateSpec(
                        UpdateSpec.Models.SLOTS,
                        UpdateSpec.Header.NONE,
                        Optional.empty(),
                        new UpdateSpec.Versions("1", "1", "1")))
                .code(CodeSpec.NONE.with(OwnParts.of("image", "board", Optional.of(script), "board")))
                .build();
        Flow flow = new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET));
        assertThatThrownBy(() -> flow.resolve(spec))
                .hasMessageContaining(
                        "kiln.linker: kiln.update is slots, and the project has a linker script of its own");
    }
}
