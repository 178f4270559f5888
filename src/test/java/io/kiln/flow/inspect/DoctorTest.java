// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.ConsoleSpec;
import io.kiln.flow.spec.VerifyOn;
import io.kiln.report.Json;
import io.kiln.report.JsonSchemas;
import io.kiln.report.listing.ToolsReport;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DoctorTest {
    @TempDir
    private Path folder;

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

    private BuildSpec spec(String board) {
        return BuildSpec.builder(new Layout(folder, folder.resolve("out"), "none"), List.of(), board)
                .mlfVersion(5)
                .verify(new VerifySpec(VerifyOn.NONE, Optional.empty(), 0, 0))
                .build();
    }
}
