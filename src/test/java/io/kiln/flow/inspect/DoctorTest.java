// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.flow.spec.BoardSpec;
import io.kiln.flow.spec.ConsoleSpec;
import io.kiln.report.Json;
import io.kiln.report.JsonSchemas;
import io.kiln.report.listing.ToolsReport;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DoctorTest {
    private final KeptLog log = new KeptLog();

    @Test
    void whatIsMissingFailsTheStrictModeOnly() {
        ToolchainEnvironment environment = TestToolchains.environment(log);
        Doctor doctor = new Doctor(log, environment, tool -> !tool.program().startsWith("qemu-system-"));
        doctor.run(spec("stm32f405"), false, false);
        assertThat(log.warnings())
                .containsExactly("Missing for stm32f405; get it with: apt-get install -y qemu-system-arm");
        assertThatThrownBy(() -> doctor.run(spec("stm32f405"), false, true))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("qemu-system-arm is missing")
                .hasMessageContaining("Get it with: apt-get install -y qemu-system-arm")
                .hasMessageNotContaining("riscv32");
        ToolsReport report = doctor.report(spec("stm32f405"), ConsoleSpec.OF_BOARD);
        JsonSchemas.assertFits("doctor", Json.text(report));
        assertThat(report.missing()).containsExactly("qemu-system-arm");
        assertThat(report.install()).containsExactly("apt-get", "install", "-y", "qemu-system-arm");
        assertThatThrownBy(() -> Doctor.requireAll(report)).hasMessageContaining("qemu-system-arm is missing");
        new Doctor(log, environment, tool -> true).run(spec("stm32f405"), false, true);
    }

    private static BoardSpec spec(String board) {
        return new BoardSpec(board, Boards.builtIn(), Optional.empty());
    }
}
