// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.report.BuildReport;
import io.kiln.report.Json;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What would help an image that does not fit: every number is compared with a build with that choice. */
class SavingsTest {

    @TempDir
    Path folder;

    @Test
    void everyNumberIsThatOfABuildWithThatChoice() throws IOException {
        BuildReport now = built("speed", "caller");
        BuildReport pooled = built("speed", "workspace");
        BuildReport small = built("size", "caller");
        long ram = now.ram().workspace()
                + now.ram().io()
                - pooled.ram().workspace()
                - pooled.ram().io();
        long flash = now.flash().total() - small.flash().total();
        assertThat(ram).isPositive();
        assertThat(flash).isPositive();

        board("1K", "4M");
        assertThat(refused("size", "caller")).doesNotContain("or try");
        board("4M", "1K");
        assertThat(refused("speed", "caller"))
                .contains("or try\n")
                .contains(String.format(Locale.ROOT, "  -Dkiln.io=workspace: %,d bytes of RAM less, of ", ram))
                .contains("  -Dkiln.optimize=ram: ")
                .contains(String.format(
                        Locale.ROOT,
                        "%,d inputs and outputs of the default application",
                        now.ram().io()))
                .doesNotContain("flash less");
        board(Long.toString(small.flash().total() + 64), "4M");
        assertThat(refused("speed", "caller"))
                .contains(String.format(
                        Locale.ROOT, "  -Dkiln.optimize=size: %,d bytes of flash less, which is enough", flash))
                .doesNotContain("RAM less");
        assertThat(folder.resolve("out/kiln/savings")).isEmptyDirectory();
    }

    private String refused(String optimize, String io) {
        KilnException thrown = catchThrowableOfType(KilnException.class, () -> link("tiny", optimize, io));
        assertThat(thrown).hasMessageContaining("board tiny: the image does not fit");
        return thrown.getMessage();
    }

    private BuildReport built(String optimize, String io) {
        link("mps2-an386", optimize, io);
        return Json.read(folder.resolve("out/kiln/report.json"), BuildReport.class);
    }

    private void link(String board, String optimize, String io) {
        BuildSpec spec = new GestureProject(folder)
                .spec(board)
                .optimize(optimize)
                .io(io)
                .mlfVersion(5)
                .verify(GestureProject.UNVERIFIED)
                .build();
        Flow flow = new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET));
        flow.generate(spec);
        flow.link(spec);
    }

    /** The default board with less memory. */
    private void board(String flash, String ram) throws IOException {
        Path tiny = Files.createDirectories(folder.resolve("src/main/boards/tiny"));
        Files.writeString(
                tiny.resolve("board.yaml"), """
                    schema: 1
                    id: tiny
                    title: An AN386 with too little memory
                    extends: mps2-an386
                    target: c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=mps2-an386
                    memories:
                      - {name: code, kind: rom, base: 0x00000000, size: FLASH}
                      - {name: sram, kind: ram, base: 0x20000000, size: RAM}
                    """.replace("FLASH", flash).replace("RAM", ram));
    }
}
