// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.flow.spec.BoardSpec;
import io.kiln.flow.spec.BoardSpec.DoctorSpec;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.DeviceSpec.ConsoleSpec;
import io.kiln.process.TestPrograms;
import io.kiln.report.Json;
import io.kiln.report.JsonSchemas;
import io.kiln.report.listing.BoardsReport;
import io.kiln.report.listing.BoardsReport.Emulator;
import io.kiln.report.listing.BoardsReport.Entry;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.toolchain.compiler.Toolchains.Libc;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BoardFlowTest {
    @TempDir
    private Path folder;

    @Test
    void theDoctorSaysWhatIsThere() {
        TestPrograms.need("qemu-system-arm");
        KeptLog log = new KeptLog();
        new BoardFlow(log, TestToolchains.environment(log))
                .doctor(
                        new DoctorSpec(
                                new BoardSpec("mps2-an386", Boards.builtIn(), Optional.empty()),
                                ConsoleSpec.OF_BOARD,
                                Libc.NONE,
                                false),
                        false,
                        false);
        assertThat(log.said()).anyMatch(line -> line.matches("qemu-system-arm +yes +QEMU emulator version.*"));
        assertThat(log.said()).contains("Nothing is missing for mps2-an386");
    }

    @Test
    void boardsAreToldToPrograms() throws IOException {
        Path broken = Files.createDirectories(folder.resolve("src/main/boards/broken"));
        Files.writeString(broken.resolve("board.yaml"), "schema: 1\nid: broken\nextends: nothing\n");
        KeptLog log = new KeptLog();
        BoardFlow flow = new BoardFlow(log, TestToolchains.environment(log));
        BuildSpec spec = new GestureProject(folder).spec("mps2-an386").build();
        BoardsReport all = flow.boardsReport(spec.boards(), Optional.empty());
        JsonSchemas.assertFits("boards", Json.text(all));
        assertThat(all.boards()).extracting(Entry::id).isEqualTo(spec.boards().ids());
        assertThat(all.boards())
                .filteredOn(entry -> entry.profile() == null)
                .singleElement()
                .satisfies(entry -> assertThat(entry.problem()).contains("nothing"));
        BoardsReport one = flow.boardsReport(spec.boards(), Optional.of("nucleo-h743zi"));
        assertThat(one.boards()).singleElement().satisfies(entry -> {
            assertThat(entry.profile().emulator()).isEqualTo(new Emulator("standIn", "mps2-an500"));
            assertThat(entry.profile().flash()).isEqualTo("openocd");
            assertThat(entry.profile().memories())
                    .extracting(BoardsReport.Memory::name)
                    .containsExactly("flash", "axisram", "dtcm", "itcm");
        });
        assertThatThrownBy(() -> flow.boardsReport(spec.boards(), Optional.of("broken")))
                .isInstanceOf(KilnException.class);
        assertThat(log.said()).isEmpty();
    }
}
