// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Log;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.VerifyOn;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Boards that nobody can run here are verified on their stand-ins: the example model, compiled for the board's own core. */
final class StandInFlowTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "nucleo-l4r5zi, qemu-system-arm",
        "nucleo-f746zg, qemu-system-arm",
        "b-u585i-iot02a, qemu-system-arm",
        "raspberry-pi-pico, qemu-system-arm",
        "hifive1-revb, qemu-system-riscv32",
    })
    void theSameObjectsAnswerBitExactOnTheStandIn(String board, String emulator) throws IOException {
        TestPrograms.need(emulator);
        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET)).build(spec(board), DeviceSpec.USUAL);

        JsonNode verify = new GestureProject(folder).json("kiln/verify.json");
        assertThat(verify.path("board").asText()).isEqualTo(board);
        assertThat(verify.path("ranOn").asText()).startsWith(emulator).endsWith("(stand-in)");
        assertThat(verify.path("bitExact").asBoolean()).isTrue();
        assertThat(verify.path("cases")).hasSize(5);
    }

    private BuildSpec spec(String board) {
        return new GestureProject(folder)
                .spec(board)
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.of(GestureProject.VECTORS), 1, 0))
                .build();
    }
}
