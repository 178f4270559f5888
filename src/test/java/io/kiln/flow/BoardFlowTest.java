// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.KeptLog;
import io.kiln.flow.spec.ConsoleSpec;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.compiler.TestToolchains;
import java.nio.file.Path;
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
                .doctor(new GestureProject(folder).spec("mps2-an386").build(), ConsoleSpec.OF_BOARD, false, false);
        assertThat(log.said()).anyMatch(line -> line.matches("qemu-system-arm +yes +QEMU emulator version.*"));
        assertThat(log.said()).contains("Nothing is missing for mps2-an386");
    }
}
