// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.device.flash.TestOpenOcd;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.DeviceSpec.FlashSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.report.JsonSchemas;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Flashing and debugging as far as they go without a probe. */
final class FlashStepTest {
    @TempDir
    Path folder;

    private Optional<String> faults = Optional.empty();
    private Optional<String> runner = Optional.empty();
    private final List<String> said = new ArrayList<>();
    private final List<String> recordedMeanwhile = new ArrayList<>();
    private final Log log = new Log() {
        @Override
        public void info(String line) {
            if (line.startsWith("Wrote ") && Files.exists(folder.resolve("out/kiln/flash.json"))) {
                recordedMeanwhile.add(flashJson());
            }
            said.add(line);
        }

        @Override
        public void warn(String line) {
            said.add(line);
        }

        @Override
        public void debug(String line) {}
    };
    private final Flow flow = new Flow(log, TestToolchains.environment(log));

    private String flashJson() {
        try {
            return Files.readString(folder.resolve("out/kiln/flash.json"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private BuildSpec spec(String board) {
        return new GestureProject(folder)
                .spec(board)
                .verify(GestureProject.UNVERIFIED)
                .build();
    }

    private FlashSpec flash(String probe, String openOcd) {
        return new FlashSpec(
                Optional.ofNullable(probe),
                new FlashSpec.Tool(openOcd, Duration.ofSeconds(30), runner),
                FlashSpec.Content.WHOLE,
                new FlashSpec.Journal(Optional.of(folder.resolve("lab.jsonl")), Optional.of("com.example:gesture:1")),
                faults,
                false,
                false);
    }

    @Test
    void aBoardWithoutAFlashRunnerIsOneLineAndNoFailure() {
        flow.flash(spec("mps2-an386"), flash(null, "openocd"));
        assertThat(said)
                .containsExactly(
                        "Nothing to flash: the board mps2-an386 has no flash runner (flash in its board.yaml)");
    }

    @Test
    void everyProbeThatFailsIsToldAndRecorded() throws IOException {
        TestOpenOcd.get();
        flow.resolve(spec("stm32f405"));
        assertThatThrownBy(() -> flow.buildAndFlash(spec("stm32f405"), flash("NOBODY,usb:9-9", "openocd")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("2 problems")
                .hasMessageContaining("NOBODY: no debug probe was found")
                .hasMessageContaining("usb:9-9: ")
                .hasMessageContaining("Connect it");
        String json = Files.readString(folder.resolve("out/kiln/flash.json"));
        JsonSchemas.assertFits("flash", json);
        assertThat(json)
                .contains("\"result\" : \"failed\"", "no-probe: ", "\"coordinates\" : \"com.example:gesture:1\"");
        assertThat(Files.readAllLines(folder.resolve("lab.jsonl"))).hasSize(2);
        assertThat(folder.resolve("out/kiln/flash-NOBODY.log")).exists();
        assertThat(said).anyMatch(line -> line.startsWith("NOBODY: failed after "));

        assertThatThrownBy(() -> flow.flash(spec("stm32f405"), flash("NOBODY", "no-such-openocd")))
                .hasMessageContaining("OpenOCD is missing")
                .hasMessageContaining("no-such-openocd")
                .hasMessageContaining("apt-get install openocd");
        anotherProgramIsRecordedLikewise();
    }

    private void anotherProgramIsRecordedLikewise() throws IOException {
        Path program = folder.resolve("st-flash");
        Files.writeString(program, "#!/bin/sh\necho v1.7.0: Flash written and verified! jolly good!\n");
        assertThat(program.toFile().setExecutable(true)).isTrue();
        runner = Optional.of("st-flash=" + program);
        flow.flash(spec("stm32f405"), flash("066AFF48", "no-such-openocd"));
        String json = Files.readString(folder.resolve("out/kiln/flash.json"));
        JsonSchemas.assertFits("flash", json);
        assertThat(json).contains("\"tool\" : \"st-flash 1.7.0\"", "\"probe\" : \"066AFF48\"");
        assertThat(said)
                .anyMatch(line -> line.startsWith("066AFF48: flashed and verified "))
                .anyMatch(line -> line.contains(" to stm32f405 with st-flash 1.7.0"));
    }

    @Test
    void twoVirtualBoardsHoldTheImageByteForByte() throws IOException {
        TestOpenOcd.get();
        flow.buildAndFlash(spec("virtual-stm32f405"), flash("left,right", "openocd"));
        byte[] image = Files.readAllBytes(folder.resolve("out/gesture.bin"));
        for (String name : List.of("left", "right")) {
            byte[] held = Files.readAllBytes(folder.resolve("out/kiln/virtual/" + name + ".bin"));
            assertThat(Arrays.copyOf(held, image.length)).isEqualTo(image);
        }
        assertThat(said).anyMatch(line -> line.matches("left: flashed and verified [0-9]+ bytes in .*"));
        said.clear();
        flow.flash(spec("virtual-stm32f405"), flash("left", "openocd"));
        assertThat(said)
                .anyMatch(line -> line.startsWith("left: holds this image already"))
                .noneMatch(line -> line.startsWith("right: "));
        flow.flash(spec("virtual-stm32f405"), flash("all", "openocd"));
        assertThat(said).anyMatch(line -> line.startsWith("right: holds this image already"));
    }

    @Test
    void anAttemptIsInTheRecordBeforeItsEnd() {
        TestOpenOcd.get();
        flow.buildAndFlash(spec("virtual-stm32f405"), flash(null, "openocd"));
        assertThat(recordedMeanwhile).isNotEmpty().allSatisfy(json -> {
            JsonSchemas.assertFits("flash", json);
            assertThat(json).contains("\"result\" : \"started\"");
        });
        assertThat(flashJson()).contains("\"result\" : \"flashed\"").doesNotContain("started\"");
    }

    /** Whatever a path holds, OpenOCD takes it for one. */
    @Test
    void aBoardsOwnTclIsFoundBeforeThatOfOpenOcd() throws IOException {
        TestOpenOcd.get();
        Path project = Files.createDirectory(folder.resolve("a [exit 9] {b $c"));
        Path own = Files.createDirectories(project.resolve("src/main/boards/mine/parts"));
        Files.writeString(own.resolve("chip.cfg"), "echo {mine, chosen}\nsource [find target/stm32f4x.cfg]\n");
        Files.writeString(own.resolveSibling("board.yaml"), """
                schema: 1
                id: mine
                extends: virtual-stm32f405
                flash: {openocd: {virtual: true, target: parts/chip.cfg}}
                """);
        Layout layout = new Layout(project, project.resolve("out"), "gesture");
        BuildSpec spec = SpecDraft.of(layout, spec("mine").models(), "mine")
                .verify(GestureProject.UNVERIFIED)
                .build();
        flow.buildAndFlash(spec, flash(null, "openocd"));
        assertThat(said).anyMatch(line -> line.contains("flashed and verified"));
        assertThat(Files.readString(project.resolve("out/kiln/flash.log"))).contains("mine, chosen");
        assertThat(project.resolve("out/kiln/openocd/parts/chip.cfg")).exists();

        Files.writeString(own.resolveSibling("board.yaml"), """
                schema: 1
                id: mine
                extends: stm32f405
                flash: {openocd: {interface: interface/stlink.cfg, target: parts/chip.cfg, transport: hla_swd}}
                """);
        flow.debug(spec, "openocd", Optional.empty());
        ProcessResult answer = ProcessRunner.run(
                Command.of("openocd", "-f", "openocd.cfg", "-c", "shutdown").in(project.resolve("out/kiln/debug")));
        assertThat(answer.message()).contains("mine, chosen");

        Files.delete(own.resolve("chip.cfg"));
        assertThatThrownBy(() -> flow.buildAndFlash(spec, flash("NOBODY", "openocd")))
                .hasMessageContaining("parts/chip.cfg");
    }

    @Test
    void aFaultOfOneBoardLeavesTheOtherAloneAndFails() throws IOException {
        TestOpenOcd.get();
        faults = Optional.of("right/power-lost:3000");
        assertThatThrownBy(() -> flow.buildAndFlash(spec("virtual-stm32f405"), flash("left,right", "openocd")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("right: ")
                .hasMessageContaining("the board is not bootable now")
                .hasMessageNotContaining("left");
        assertThat(said).anyMatch(line -> line.matches("left: flashed and verified [0-9]+ bytes in .*"));
        assertThat(said).anyMatch(line -> line.startsWith("right: failed after "));
        faults = Optional.of("middle/slow:1");
        assertThatThrownBy(() -> flow.flash(spec("virtual-stm32f405"), flash("left,right", "openocd")))
                .hasMessageContaining("there is no virtual board 'middle'")
                .hasMessageContaining("kiln.probe.faults");
        faults = Optional.of("left/rust");
        assertThatThrownBy(() -> flow.flash(spec("virtual-stm32f405"), flash("left", "openocd")))
                .hasMessageContaining("'rust' is not a fault of the virtual probe");
        faults = Optional.of("slow:1");
        assertThatThrownBy(() -> flow.buildAndFlash(spec("stm32f405"), flash("NOBODY", "openocd")))
                .hasMessageContaining("faults can be injected into virtual boards only");
    }
}
