// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.RunningProcess;
import io.kiln.process.TestPrograms;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The protocol of MLPerf Tiny on this computer, under the sanitizers, with the invented device of {@code mlperf_driver.c}. */
class MlperfProtocolTest {
    private static final String BOOT = "m-timestamp-mode-performance\r\nm-lap-us-1000\r\nm-init-done\r\nm-ready\r\n";
    private static final String CHARACTERS = "1000000";
    private static final String SEED = "20260101";
    private static final String DRIVER = "driver";
    private static final String LISTENER = "listener";

    @TempDir
    private static Path folder;

    @BeforeAll
    static void compile() throws IOException {
        compile(DRIVER, "");
        compile(LISTENER, "#define KILN_MLPERF_STREAM\n");
    }

    private static void compile(String driver, String model) throws IOException {
        Files.writeString(folder.resolve("kiln_mlperf_model.h"), model);
        compile(driver, List.of("mlperf_driver.c"), List.of("kiln_mlperf_protocol.c", "kiln_mlperf_text.c"));
    }

    private static void compile(String driver, List<String> tested, List<String> parts) {
        TestToolchains.resolve("host", "c -keys=cpu -model=host");
        Path application =
                Path.of("src", "main", "resources", "templates", "mlperf").toAbsolutePath();
        Path tests = Path.of("src", "test", "c").toAbsolutePath();
        List<String> line = new ArrayList<>(TestPrograms.SANITIZED);
        line.addAll(List.of("-std=c99", "-I" + application, "-I" + tests, "-I.", "-o", driver));
        tested.forEach(file -> line.add(tests + "/" + file));
        parts.forEach(file -> line.add(application + "/" + file));
        ProcessResult result = ProcessRunner.run(Command.of("cc", line).in(folder));
        assertThat(result.succeeded()).as(result.message()).isTrue();
    }

    @Test
    void aLongCommandThatComesAtOnceIsTakenWhole() throws IOException {
        Files.writeString(folder.resolve("kiln_console.h"), """
                #include <stdint.h>
                int kiln_console_poll(void);
                int kiln_console_get(void);
                void kiln_console_put(uint8_t character);
                """);
        Files.writeString(folder.resolve("kiln_counter.h"), """
                #include <stdint.h>
                void kiln_counter_start(void);
                int kiln_counter_stop(uint64_t* ticks);
                uint32_t kiln_counter_hertz(void);
                """);
        compile("board", List.of("mlperf_board_test.c"), List.of("kiln_mlperf_board.c"));
        ProcessResult result =
                ProcessRunner.run(Command.of("./board", List.of()).in(folder));
        assertThat(result.exitCode()).as(result.message()).isZero();
    }

    /** Transcripts of a runner, byte for byte. */
    @ParameterizedTest
    @ValueSource(strings = {"kws-session.txt", "errors.txt"})
    @NeedsShared("mlperf-tiny")
    void answersAreThoseOfTheTranscript(String file) throws IOException {
        List<String> lines = Files.readAllLines(SharedFolder.need("mlperf-tiny").resolve(file));
        assertThat(answers(said(lines, "> "))).isEqualTo(said(lines, "< "));
    }

    private static String said(List<String> lines, String who) {
        return lines.stream()
                .filter(line -> line.startsWith(who))
                .map(line -> line.substring(who.length()).replace("\\r", "\r").replace("\\n", "\n"))
                .collect(Collectors.joining());
    }

    /** What a runner never sends has an answer, too: here | ends a line, and / stands for m-ready between two answers. */
    @ParameterizedTest
    @CsvSource({
        "'%', 'e-[Unknown command: ]|'",
        "'  db   load  4%db 01020304%db 05%db print%', 'm-[Expecting 4 bytes]|/m-load-done|//m-buffer-01-02-03-04||'",
        "'db load 491%db 01%db print%', 'Supplied buffer size 491 exceeds maximum of 490\n//'",
        "'db load 2%db 0xff%db a1zz%db print%', 'm-[Expecting 2 bytes]|/e-[Invalid hex digit ''0x'']|/e-[Invalid hex"
                + " digit ''zz'']|/m-buffer-a1-00||'",
        "'db load -1%db load 99999999999%', 'e-[Command ''db load'' must be >0 bytes]|/Supplied buffer size 2147483647"
                + " exceeds maximum of 490\n"
                + "'",
        "'infer 2 x%',"
                + " 'm-warmup-start-0|m-warmup-done|m-infer-start-2|m-lap-us-1037|m-lap-us-6074|m-infer-done|m-results-[0.000,0.000,0.000,0.000,0.000,0.000,0.000,0.000,0.000,0.000,0.000,0.000]|'",
        "'NAME%', 'e-[Unknown command: NAME]|'"
    })
    void everyCommandIsAnswered(String commands, String expected) throws IOException {
        String text = expected.replace("|", "\r\n").replace("/", "m-ready\r\n") + "m-ready\r\n";
        assertThat(answers(commands).replace("Input db has 0 elemented, expected 490\n", ""))
                .isEqualTo(BOOT + text);
    }

    /** The streaming benchmark echoes commands, and has others. */
    @Test
    void aDeviceThatListensIsAnswered() throws IOException {
        String sound = "00".repeat(490);
        assertThat(answers(
                                LISTENER,
                                "start%db load 490%extract_uart_stream%db " + sound
                                        + "%extract_uart_stream%stop%infer%")
                        .replaceAll("Received command: (\\w+)", "> $1"))
                .isEqualTo(BOOT
                        + "> start\r\n"
                        + "m-lap-us-1037\r\n"
                        + "Listening for I2S data ... \r\n"
                        + "DMA receive initiated.\r\n"
                        + "m-ready\r\n"
                        + "> db\r\n"
                        + "Expecting 490 bytes\r\n"
                        + "m-ready\r\n"
                        + "> extract_uart_stream\r\n"
                        + "e-[0 bytes are loaded]\r\n"
                        + "m-ready\r\n"
                        + "> db\r\n"
                        + "490 bytes received\r\n"
                        + "m-load-done\r\n"
                        + "m-ready\r\n"
                        + "> extract_uart_stream\r\n"
                        + "m-activations-[-2147483648]\r\n"
                        + "m-ready\r\n"
                        + "> stop\r\n"
                        + "m-lap-us-1074\r\n"
                        + "Streaming stopped.\r\n"
                        + "target activations: \r\n"
                        + "[]\r\n"
                        + "m-ready\r\n"
                        + "> infer\r\n"
                        + "e-[Unknown command: infer]\r\n"
                        + "m-ready\r\n");
    }

    @Test
    void aCommandThatIsTooLongIsRefused() throws IOException {
        String longest = "name" + " ".repeat(76);
        assertThat(answers(longest + "%" + longest + "x%"))
                .isEqualTo(BOOT + "m-name-dut-[kiln]\r\nm-ready\r\ne-[Command too long]\r\nm-ready\r\n");
    }

    /** The driver itself checks bounds, and that each command is answered. */
    @ParameterizedTest
    @ValueSource(strings = {DRIVER, LISTENER})
    void randomCharactersDoNoHarm(String driver) {
        ProcessResult result =
                ProcessRunner.run(Command.of(folder.resolve(driver).toString(), List.of(CHARACTERS, SEED)));
        assertThat(result.succeeded()).as(result.message()).isTrue();
    }

    private static String answers(String commands) throws IOException {
        return answers(DRIVER, commands);
    }

    private static String answers(String program, String commands) throws IOException {
        try (RunningProcess driver =
                ProcessRunner.start(Command.of(folder.resolve(program).toString(), List.of()))) {
            driver.input().write(commands.getBytes(StandardCharsets.US_ASCII));
            driver.input().close();
            return new String(driver.output().readAllBytes(), StandardCharsets.US_ASCII);
        }
    }
}
