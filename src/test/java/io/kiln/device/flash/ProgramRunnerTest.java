// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.device.flash.FlashFailure.Kind;
import io.kiln.device.flash.FlashRunner.FlashImage;
import io.kiln.device.flash.FlashRunner.FlashImage.Segment;
import io.kiln.device.flash.FlashRunner.FlashResult;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.Executables;
import io.kiln.process.RunningProcess;
import io.kiln.toolchain.board.Flashing;
import io.kiln.toolchain.board.RunnerDefinition;
import io.kiln.toolchain.board.RunnerDefinition.Runners;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Programs that flash. dfu-util, stm32flash and st-flash are the real ones: with nothing attached, and stm32flash also with a boot loader of this
 * project's at a pseudo terminal. Stand-ins, which are shell scripts that print what the programs are known to print, take the place of the others.
 */
final class ProgramRunnerTest {
    private static final long FLASH = 0x08000000;

    @TempDir
    private Path folder;

    private final FlashImage image =
            FlashImage.of(List.of(new Segment(FLASH, noise(5000)), new Segment(FLASH + 0x8000, noise(700))));

    private static Bytes noise(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return Bytes.wrap(bytes);
    }

    private FlashResult flash(String id, Map<String, String> values, Path program, String probe) {
        RunnerDefinition definition = Runners.builtIn().get(id);
        Probe which = probe.isEmpty() ? new Probe.Any() : new Probe.Serial(probe);
        ProgramRunner runner = new ProgramRunner(
                new Flashing.Program(definition, values),
                program,
                List.of(which),
                OptionalLong.of(0xe48bff56L),
                new OpenOcdRunner.Manner(Duration.ofSeconds(20), true, folder));
        return runner.flash(which, image, FlashProgress.QUIET);
    }

    private static Path real(String program) {
        Optional<Path> found = Executables.find(program);
        if (found.isEmpty() && !"true".equals(System.getenv("CI"))) {
            Assumptions.abort(program + " is not installed");
        }
        return found.orElseThrow();
    }

    @ParameterizedTest
    @CsvSource({"dfu-util, ''", "dfu-util, NOBODY", "st-flash, ''", "stm32flash, /dev/ttyNONE"})
    void realProgramsFindNothing(String id, String probe) {
        FlashFailure failure = flash(id, Map.of(), real(id), probe).failure().orElseThrow();
        assertThat(failure.kind()).isEqualTo(Kind.NO_PROBE);
        assertThat(failure.begun()).isFalse();
        assertThat(folder.resolve("flash.log")).content().contains("$ ", "exit code ");
    }

    /** The boot loader of a chip: a program at a pseudo terminal, which has no parity. */
    private FlashResult throughABootLoader(Path flashed, String... flipped) throws IOException {
        Path script = folder.resolve("stm32_boot_loader.py");
        try (var in = ProgramRunnerTest.class.getResourceAsStream("/runners/stm32_boot_loader.py")) {
            Files.write(script, in.readAllBytes());
        }
        List<String> line = new ArrayList<>(List.of(real("python3").toString(), script.toString(), flashed.toString()));
        line.addAll(List.of(flipped));
        try (RunningProcess chip = ProcessRunner.start(Command.ofLine(line));
                BufferedReader said =
                        new BufferedReader(new InputStreamReader(chip.output(), StandardCharsets.UTF_8))) {
            return flash("stm32flash", Map.of("mode", "8n1"), real("stm32flash"), said.readLine());
        }
    }

    @Test
    void theRealStm32flashWritesEverySegmentAndVerifiesIt() throws IOException {
        Path flashed = folder.resolve("flash.bin");
        assertThat(throughABootLoader(flashed).failure()).isEmpty();
        byte[] content = Files.readAllBytes(flashed);
        for (Segment each : image.segments()) {
            int from = (int) (each.address() - FLASH);
            assertThat(Arrays.copyOfRange(content, from, from + each.content().size()))
                    .isEqualTo(each.content().toArray());
        }
    }

    @Test
    void aByteThatReadsBackOtherwiseIsTold() throws IOException {
        FlashFailure failure = throughABootLoader(folder.resolve("flash.bin"), "0x08000123")
                .failure()
                .orElseThrow();
        assertThat(failure.kind()).isEqualTo(Kind.VERIFY_MISMATCH);
        assertThat(failure.address()).hasValue(0x08000123);
        assertThat(failure.begun()).isTrue();
        assertThat(failure.text()).contains("the device's content differs from the image at 0x08000123");
        assertThat(folder.resolve("flash.bin")).as("nothing is started").doesNotExist();
    }

    /** A program that prints the same at each call, writes its calls down, and reads back what it was given, but for a flipped byte. */
    private Path standIn(String says, int code, boolean isFaulty) throws IOException {
        Files.writeString(folder.resolve("says"), says);
        Path program = folder.resolve("stand-in");
        Files.writeString(program, """
            #!/bin/sh
            printf '%s\\n' "$*" >> FOLDER/calls
            cat FOLDER/says
            [ -f kiln.jlink ] && cp kiln.jlink FOLDER
            for i in 0 1; do
              case "$*" in *readback$i.bin*|*kiln.jlink*) cp segment$i.bin readback$i.bin;; esac
            done
            [ FAULTY = 1 ] && [ -f readback1.bin ] && printf 'X' | dd of=readback1.bin bs=1 seek=3 conv=notrunc 2>/dev/null
            exit CODE
            """.replace("FOLDER", folder.toString())
                .replace("FAULTY", isFaulty ? "1" : "0")
                .replace("CODE", String.valueOf(code)));
        assertThat(program.toFile().setExecutable(true)).isTrue();
        return program;
    }

    private static Map<String, String> needed(String id) {
        return switch (id) {
            case "jlink" -> Map.of("device", "STM32F405RG");
            case "pyocd" -> Map.of("target", "stm32f405rg");
            case "probe-rs" -> Map.of("chip", "STM32F405RGTx");
            default -> Map.of();
        };
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "dfu-util | S1 | File downloaded successfully | -d 0483:df11 -a 0 -S S1 -s 0x08008000 -D segment1.bin",
                "dfu-util | S1 | File downloaded successfully | -d 0483:df11 -a 0 -S S1 -s 0x08000000:4:leave -U"
                        + " leave.bin",
                "pyocd | S1 | '' | cmd --no-wait -t stm32f405rg -f 4000000 -u S1 -c savemem 0x08008000 700"
                        + " readback1.bin",
                "probe-rs | 0483:374b:S1 | Finished in 1s | download --non-interactive --chip STM32F405RGTx --speed"
                        + " 4000 --probe 0483:374b:S1 --verify --binary-format hex image.hex",
                "jlink | 59 | O.K. | -NoGui 1 -ExitOnError 1 -device STM32F405RG -if SWD -speed 4000 -AutoConnect 1"
                        + " -USB 59 -CommandFile kiln.jlink",
                "stm32cubeprogrammer | 066AFF495051717867 | Download verified successfully |"
                        + " -c port=SWD freq=4000 mode=NORMAL sn=066AFF495051717867 -w image.hex -v -rst",
                "nrfutil | 683 | '' | device program --firmware image.hex --serial-number 683 --options"
                        + " chip_erase_mode=ERASE_RANGES_TOUCHED_BY_FIRMWARE,verify=VERIFY_READ,reset=RESET_SYSTEM",
                "picotool | E66 | 'Verifying Flash: OK' | load -v -x image.uf2 --ser E66",
                "st-flash | 066AFF48 | Flash written and verified! jolly good! | --serial 066AFF48 --reset write"
                        + " segment1.bin 0x08008000"
            })
    void standInsAreCalledAsTheirProgramsWantIt(String id, String probe, String says, String call) throws IOException {
        Path program = standIn(says, 0, false);
        assertThat(flash(id, needed(id), program, probe).failure()).isEmpty();
        assertThat(Files.readAllLines(folder.resolve("calls"))).contains(call);
        if (id.equals("jlink")) {
            assertThat(Files.readAllLines(folder.resolve("kiln.jlink")))
                    .containsExactly(
                            "ExitOnError 1",
                            "r",
                            "loadfile image.hex",
                            "savebin readback0.bin, 0x08000000, 0x1388",
                            "savebin readback1.bin, 0x08008000, 0x2bc",
                            "r",
                            "g",
                            "qc");
        }
    }

    @Test
    void esptoolCountsFromTheStartOfTheFlash() throws IOException {
        Path program = standIn("Hash of data verified.\n-- verify OK (digest matched)", 0, false);
        assertThat(flash("esptool", Map.of("base", "134217728"), program, "/dev/ttyUSB0")
                        .failure())
                .isEmpty();
        assertThat(Files.readAllLines(folder.resolve("calls")))
                .contains(
                        "--chip auto --port /dev/ttyUSB0 --baud 460800 --after no_reset write_flash 0x8000"
                                + " segment1.bin",
                        "--chip auto --port /dev/ttyUSB0 --baud 460800 --after hard_reset verify_flash 0x8000"
                                + " segment1.bin");
    }

    @ParameterizedTest
    @CsvSource({"dfu-util, File downloaded successfully", "pyocd, ''", "jlink, O.K."})
    void whatAProgramReadsBackIsComparedByKiln(String id, String says) throws IOException {
        FlashFailure failure =
                flash(id, needed(id), standIn(says, 0, true), "").failure().orElseThrow();
        assertThat(failure.kind()).isEqualTo(Kind.VERIFY_MISMATCH);
        assertThat(failure.address()).hasValue(FLASH + 0x8003);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "dfu-util | 0 | '' | OTHER",
                "dfu-util | 74 | dfu-util: Lost device after RESET? | PROBE_LOST",
                "dfu-util | 74 | dfu-util: Error during download get_status | WRITE_ERROR",
                "dfu-util | 74 | dfu-util: More than one DFU capable USB device found! Try `--list' and specify the"
                        + " serial number | SEVERAL_PROBES",
                "stm32flash | 1 | Failed to write memory at address 0x08000100 | WRITE_ERROR",
                "stm32flash | 1 | Failed to init device, timeout. | NO_TARGET",
                "pyocd | 1 | No connected debug probes | NO_PROBE",
                "pyocd | 1 | 0001234:CRITICAL:__main__:No ACK received | NO_TARGET",
                "probe-rs | 1 | Error: No connected probes were found. | NO_PROBE",
                "probe-rs | 1 | Error: The chip 'XYZ' was not found in the database. | WRONG_CHIP",
                "jlink | 1 | Connecting to J-Link via USB...FAILED: Cannot connect to J-Link via USB. | NO_PROBE",
                "jlink | 1 | Cannot connect to target. | NO_TARGET",
                "stm32cubeprogrammer | 1 | Error: No debug probe detected. | NO_PROBE",
                "stm32cubeprogrammer | 1 | Error: No STM32 target found! | NO_TARGET",
                "stm32cubeprogrammer | 1 | Error: Data mismatch found at address 0x08000010 (byte = 0x00 instead of"
                        + " 0x01) | VERIFY_MISMATCH",
                "stm32cubeprogrammer | 0 | File download complete | OTHER",
                "nrfutil | 1 | Error: No devices found | NO_PROBE",
                "nrfutil | 1 | Error: Access protection is enabled (APPROTECT), use recover | LOCKED",
                "esptool | 2 | A fatal error occurred: Could not open /dev/ttyUSB0, the port is busy or doesn't exist."
                        + " | NO_PROBE",
                "esptool | 2 | A fatal error occurred: Failed to connect to ESP32-C6: No serial data received. |"
                        + " NO_TARGET",
                "picotool | 249 | No accessible RP2040 devices in BOOTSEL mode were found. | NO_PROBE",
                "st-flash | 255 | Couldn't find any ST-Link devices | NO_PROBE"
            })
    void everyUsualFailureHasItsKind(String id, int code, String says, Kind kind) throws IOException {
        Path program = standIn(says, code, false);
        String probe = id.equals("stm32flash") ? "/dev/ttyUSB0" : "";
        FlashFailure failure = flash(id, needed(id), program, probe).failure().orElseThrow();
        assertThat(failure.kind()).isEqualTo(kind);
        assertThat(failure.begun()).isFalse();
        if (kind == Kind.OTHER) {
            assertThat(failure.text()).contains("exit code " + code);
        }
    }

    @Test
    void aProgramThatHangsIsKilled() throws IOException {
        Path program = folder.resolve("hangs");
        Files.writeString(program, "#!/bin/sh\necho Erasing\nexec sleep 60\n");
        assertThat(program.toFile().setExecutable(true)).isTrue();
        RunnerDefinition definition = Runners.builtIn().get("probe-rs");
        ProgramRunner runner = new ProgramRunner(
                new Flashing.Program(definition, needed("probe-rs")),
                program,
                List.of(new Probe.Any()),
                OptionalLong.empty(),
                new OpenOcdRunner.Manner(Duration.ofSeconds(1), true, folder));
        FlashFailure failure = runner.flash(new Probe.Any(), image, FlashProgress.QUIET)
                .failure()
                .orElseThrow();
        assertThat(failure.kind()).isEqualTo(Kind.TIME_OUT);
        assertThat(failure.begun()).isTrue();
    }

    @Test
    void aMissingProgramIsToldWithHowToGetIt() {
        assertThatThrownBy(() -> ProgramRunner.find(Runners.builtIn().get("jlink"), Optional.of("/no/JLinkExe")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("/no/JLinkExe")
                .hasMessageContaining("SEGGER's J-Link software")
                .hasMessageContaining("-Dkiln.flash.runner=");
    }
}
