// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Log;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.process.TestPrograms;
import io.kiln.report.JsonSchemas;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
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

    /** Of the board, whose flash waits, with its own addresses; the stand-in's memories are not those. */
    @ParameterizedTest
    @CsvSource({
        "nucleo-l4r5zi, true",
        "nucleo-f746zg, true",
        "b-u585i-iot02a, true",
        "raspberry-pi-pico, false",
        "hifive1-revb, true"
    })
    void theBoardsCyclesAreCountedOnTheStandIn(String board, boolean hasClock) throws IOException {
        TestPrograms.need(board.startsWith("hifive") ? "qemu-system-riscv32" : "qemu-system-arm");
        Flow flow = new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET));
        flow.build(spec(board), DeviceSpec.USUAL);
        flow.profile(spec(board));

        JsonNode profile = new GestureProject(folder).json("kiln/profile.json");
        JsonSchemas.assertFits("profile", profile.toString());
        JsonNode cycles = profile.path("cycles");
        long stalls =
                cycles.path("fetchStalls").asLong() + cycles.path("dataStalls").asLong();
        assertThat(cycles.path("zeroWait").asLong())
                .isEqualTo(
                        profile.path("estimate").path("cycles").path("expected").asLong());
        assertThat(stalls).isPositive();
        assertThat(cycles.path("expected").asLong())
                .isGreaterThanOrEqualTo(cycles.path("zeroWait").asLong() + stalls)
                .isBetween(cycles.path("low").asLong(), cycles.path("high").asLong());
        long ofOperators = 0;
        for (JsonNode operator : profile.path("operators")) {
            ofOperators += operator.path("boardCycles").path("fetchStalls").asLong();
        }
        assertThat(ofOperators).isBetween(1L, cycles.path("fetchStalls").asLong());
        JsonNode memory = profile.path("estimate").path("memory");
        assertThat(memory.path("unknownLoads").asLong()).isLessThan(2_000);
        assertThat(memory.path("changes")).isNotEmpty().allSatisfy(change -> {
            assertThat(change.path("expected").asLong()).isPositive();
            assertThat(change.has("microseconds")).isEqualTo(hasClock);
        });
        JsonNode report = new GestureProject(folder).json("kiln/report.json");
        JsonSchemas.assertFits("report", report.toString());
        assertThat(report.path("estimate").path("memory")).isEqualTo(memory);
        assertThat(new GestureProject(folder).text("kiln/index.html"))
                .contains("Waits of the memories", "With other settings", "all weights in RAM", "Waits for code");
    }

    /** Nothing on this board waits: its cycles are those without waits, and no order of blocks is needed to know that. */
    @Test
    void aBoardWithoutWaitStatesWaitsForNothing() throws IOException {
        TestPrograms.need("qemu-system-arm");
        Flow flow = new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET));
        flow.build(spec("mps2-an386"), DeviceSpec.USUAL);
        flow.profile(spec("mps2-an386"));

        JsonNode profile = new GestureProject(folder).json("kiln/profile.json");
        JsonSchemas.assertFits("profile", profile.toString());
        JsonNode cycles = profile.path("cycles");
        assertThat(cycles.path("fetchStalls").asLong()
                        + cycles.path("dataStalls").asLong())
                .isZero();
        assertThat(cycles.path("expected")).isEqualTo(cycles.path("zeroWait"));
        assertThat(profile.path("estimate").path("memory").has("changes")).isFalse();
    }

    private BuildSpec spec(String board) {
        return new GestureProject(folder)
                .spec(board)
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.of(GestureProject.VECTORS), 1, 0))
                .build();
    }
}
