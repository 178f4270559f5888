// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.WholeFiles;
import io.kiln.cycles.memory.MemoryWait;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code clock} of a board says is what its start-up code sets up, or it is refused. */
class ClockTest {
    private static final String F411 =
            "schema: 1\nid: mine\nextends: nucleo-f446re\ntarget: c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=stm32f411\n";

    @TempDir
    private Path boards;

    @Test
    void aChipDoesNotInheritAClockThatItDoesNotBear() throws IOException {
        Problem problem = problems(F411).get(0);
        assertThat(problem.what())
                .isEqualTo("the core would run at 168,000,000 Hz, and stm32f411 bears 100,000,000 Hz");
        assertThat(problem.where()).startsWith("built-in board nucleo-f446re/board.yaml:");
        assertThat(problem.next()).startsWith("Say clock: {hertz: 100000000} in the board's own board.yaml");
        Board board = board(F411 + "clock: {hertz: 96000000}\nconsole: {baud: 921600}\n");
        assertThat(board.timer().orElseThrow().hertz()).isEqualTo(96_000_000);
        assertThat(board.constants().flatMap(Board.Memory::waits).map(MemoryWait::states))
                .contains(3);
        assertThat(board.files().get("kiln_settings.h").text())
                .contains(
                        "#define KILN_BAUD 921600u\n",
                        "#define KILN_CORE_CLOCK 96000000u\n",
                        "#define KILN_WAIT_STATES 3u\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "clock: {hertz: 84000001}; 84,000,001 Hz cannot be made from 16,000,000 Hz; such as 84000000",
                "clock: {hertz: 96000000, limit: 90000000}; stm32f411 bears 90,000,000 Hz; at most 90000000",
                "clock: {hertz: 84000000, source: crystal}; crystal runs at a frequency that is not said; as sourceHertz 4000000 to 26000000",
                "clock: {hertz: 84000000, sourceHertz: 8000000}; internal runs at 8,000,000 Hz; as sourceHertz 16000000",
                "clock: {hertz: 84000000, family: rp2040}; how fast stm32f411 may run is not known; -model in the target that begins with one of rp2040",
                "timer: {counter: DWT cycles, cycles: true, hertz: 84000000} / clock: {hertz: 96000000}; the timer counts cycles at 84000000 Hz; one frequency",
                "timer: {counter: TIM2} / clock: {hertz: 96000000}; the key \"hertz\" of the timer is missing; ticks of a second",
                "clock: {hertz: 96000000} / memories: [{name: flash, kind: rom, base: 0x08000000, size: 512K, wait: {states: 2, lineBytes: 16}},"
                        + " {name: sram, kind: ram, base: 0x20000000, size: 128K}]; memory flash has 2 wait states, and the clock of the board needs 3; 3",
            })
    void whatDoesNotAgreeIsRefused(String yaml, String what, String expected) throws IOException {
        List<Problem> problems = problems(F411 + yaml.replace(" / ", "\n") + "\n");
        assertThat(problems).hasSize(1);
        assertThat(problems.get(0).what()).contains(what);
        assertThat(problems.get(0).expected()).contains(expected);
    }

    /** The code runs on this computer, with words for registers; what it leaves there is read as the reference manuals say. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "nucleo-f446re; stm32f446; ; 168000000; 16000000; 5",
                "nucleo-f446re; stm32f446; source: crystal, sourceHertz: 8000000, hertz: 180000000; 180000000; 8000000; 5",
                "nucleo-f446re; stm32f411; hertz: 100000000; 100000000; 16000000; 3",
                "nucleo-f446re; stm32f401; source: input, sourceHertz: 25000000, hertz: 84000000; 84000000; 25000000; 2",
                "nucleo-f746zg; stm32f746; hertz: 216000000; 216000000; 16000000; 7",
                "nucleo-h743zi; stm32h743; ; 400000000; 64000000; 2",
                "nucleo-h743zi; stm32h743; source: crystal, sourceHertz: 25000000, hertz: 200000000; 200000000; 25000000; 2",
                "nucleo-l4r5zi; stm32l4r5; hertz: 80000000; 80000000; 16000000; 3",
                "b-u585i-iot02a; stm32u575; source: crystal, sourceHertz: 16000000, hertz: 100000000; 100000000; 16000000; 3",
                "raspberry-pi-pico; rp2040; hertz: 133000000; 133000000; 12000000; 0",
            })
    void theRegistersMakeTheClock(String base, String model, String clock, long hertz, long source, int states)
            throws IOException {
        String target = Boards.builtIn().find(base).target().replaceFirst("-model=.*", "-model=" + model);
        Board board = board("schema: 1\nid: mine\nextends: " + base + "\ntarget: " + target + "\n"
                + (clock == null ? "" : "clock: {" + clock + "}\n"));
        Map<String, Long> registers = run(board);
        Chip chip = Chip.of(base, registers);
        assertThat(source / chip.divider * chip.factor).as("oscillator").isEqualTo(hertz * chip.output);
        assertThat(chip.isExternal).isEqualTo(clock != null && clock.contains("source"));
        assertThat(registers).containsEntry("core", hertz);
        if (!base.equals("raspberry-pi-pico")) {
            assertThat(chip.states).isEqualTo(states);
            assertThat(registers.get("console")).isEqualTo(chip.consoleClock(base, hertz));
        }
        assertThat(registers.getOrDefault("0x40007000", 0L) >> 16 & 1)
                .as("over-drive")
                .isEqualTo(hertz == 180_000_000 || hertz == 216_000_000 ? 1 : 0);
    }

    /**
     * What registers say.
     *
     * @param divider M
     * @param factor N
     * @param output P, or R where the core is clocked by that
     * @param isExternal whether the PLL's input is HSE
     * @param states wait states
     * @param buses what divides the core's clock for the console
     */
    private record Chip(long divider, long factor, long output, boolean isExternal, long states, long buses) {
        static Chip of(String board, Map<String, Long> registers) {
            return switch (board) {
                case "nucleo-f446re", "nucleo-f746zg" -> {
                    long pll = registers.get("0x40023804");
                    long buses = registers.get("0x40023808");
                    yield new Chip(
                            pll & 63,
                            pll >> 6 & 511,
                            2 * ((pll >> 16 & 3) + 1),
                            (pll >> 22 & 1) == 1,
                            registers.get("0x40023c00") & 15,
                            divider(buses >> 10 & 7));
                }
                case "nucleo-h743zi" -> {
                    long select = registers.get("0x58024428");
                    long pll = registers.get("0x58024430");
                    yield new Chip(
                            select >> 4 & 63,
                            (pll & 511) + 1,
                            (pll >> 9 & 127) + 1,
                            (select & 3) == 2,
                            registers.get("0x52002000") & 15,
                            1);
                }
                case "nucleo-l4r5zi" -> {
                    long pll = registers.get("0x4002100c");
                    yield new Chip(
                            (pll >> 4 & 15) + 1,
                            pll >> 8 & 127,
                            2 * ((pll >> 25 & 3) + 1),
                            (pll & 3) == 3,
                            registers.get("0x40022000") & 15,
                            1);
                }
                case "b-u585i-iot02a" -> {
                    long select = registers.get("0x46020c28");
                    long pll = registers.get("0x46020c34");
                    yield new Chip(
                            (select >> 8 & 15) + 1,
                            (pll & 511) + 1,
                            (pll >> 24 & 127) + 1,
                            (select & 3) == 3,
                            registers.get("0x40022000") & 15,
                            1);
                }
                default -> {
                    long dividers = registers.get("0x4002800c");
                    yield new Chip(
                            1, registers.get("0x40028008"), (dividers >> 16 & 7) * (dividers >> 12 & 7), false, 0, 1);
                }
            };
        }

        private static long divider(long bits) {
            return bits < 4 ? 1 : 1L << (bits - 3);
        }

        long consoleClock(String board, long hertz) {
            return board.equals("nucleo-h743zi") ? 64_000_000 : hertz / buses;
        }
    }

    private Map<String, Long> run(Board board) throws IOException {
        Path folder = boards.resolve("c");
        board.files().forEach((name, content) -> {
            if (name.matches("clock\\.c|console\\.c|kiln_[a-z_]*\\.h")) {
                WholeFiles.write(folder.resolve(name), content.toArray());
            }
        });
        for (String name : List.of("main.c", "kiln_register.h", "kiln_sleep.h")) {
            try (InputStream in = ClockTest.class.getResourceAsStream("registers/" + name)) {
                Files.write(folder.resolve(name), in.readAllBytes());
            }
        }
        boolean hasClock = board.files().containsKey("clock.c");
        Files.writeString(
                folder.resolve("kiln_board_or_settings.h"),
                "#include \"" + (hasClock ? "kiln_board.h" : "kiln_settings.h") + "\"\n");
        require(Command.of(
                        "cc",
                        "-std=gnu11",
                        "-w",
                        "-DSTART=" + (hasClock ? "kiln_clock_init" : "kiln_console_init"),
                        hasClock ? "clock.c" : "console.c",
                        "main.c",
                        "-o",
                        "run")
                .in(folder));
        Map<String, Long> values = new TreeMap<>();
        require(Command.of(folder.resolve("run").toString())).lines().forEach(line -> {
            String[] words = line.split(" ", -1);
            values.put(words[0], Long.parseLong(words[1]));
            if (words.length > 2) {
                boolean isLowPower = board.console().orElseThrow().uart().startsWith("LP");
                long clock = values.get(words[0]) * (isLowPower ? 256 : 1);
                assertThat(Long.parseLong(words[2])).isEqualTo(Math.round((double) clock / 115_200));
                assertThat(words[3]).isEqualTo("115200");
            }
        });
        return values;
    }

    private static String require(Command command) {
        ProcessResult result = ProcessRunner.run(command.within(Duration.ofMinutes(1)));
        assertThat(result.succeeded()).as(result.message()).isTrue();
        return result.output();
    }

    private Board board(String yaml) throws IOException {
        WholeFiles.write(boards.resolve("mine/board.yaml"), yaml.contains("title:") ? yaml : yaml + "title: Mine\n");
        return Boards.builtIn().with(boards).find("mine");
    }

    private List<Problem> problems(String yaml) {
        return catchThrowableOfType(KilnException.class, () -> board(yaml)).problems();
    }
}
