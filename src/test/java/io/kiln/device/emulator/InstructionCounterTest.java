// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile;
import io.kiln.cycles.BlockSink.ExecutedBlock;
import io.kiln.cycles.CycleEstimator;
import io.kiln.cycles.CycleEstimator.CycleEstimate;
import io.kiln.cycles.core.CoreTables;
import io.kiln.device.emulator.RunCounter.InstructionCounts;
import io.kiln.device.protocol.ConsoleProtocol;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole;
import io.kiln.process.RunningProcess;
import io.kiln.toolchain.board.Board;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InstructionCounterTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final List<Bytes> INPUT = List.of(HandWrittenModel.input(-40));
    private static final List<Bytes> HANGS = List.of(HandWrittenModel.input(98));

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"mps2-an386,clang", "mps3-an547,gnu", "microbit,clang", "qemu-riscv32,clang"})
    void everyRunOfTheSameImageCountsTheSame(String id, String toolchain) {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        Path image = HandWrittenModel.build(board, toolchain, Io.CALLER, folder);
        InstructionCounter counter = new InstructionCounter(Emulator.of(board, LIMIT), new ConsoleProtocol(LIMIT));
        InstructionCounts first = counter.count(image, "hand", HandWrittenModel.OPERATORS, INPUT);
        InstructionCounts second = counter.count(image, "hand", HandWrittenModel.OPERATORS, INPUT);
        assertThat(second).isEqualTo(first);
        assertThat(HandWrittenModel.answers(-40, first.outputs())).isTrue();
        assertThat(first.operators().keySet()).containsExactlyElementsOf(HandWrittenModel.OPERATORS);
        long inOperators =
                first.operators().values().stream().mapToLong(Long::longValue).sum();
        assertThat(first.operators().values()).allMatch(count -> count > 100);
        assertThat(first.total()).isBetween(inOperators, inOperators + 60);
    }

    @ParameterizedTest
    @CsvSource({
        "mps2-an386,clang,cortex-m4",
        "mps3-an547,gnu,cortex-m55",
        "microbit,clang,cortex-m0",
        "qemu-riscv32,gnu,rv32imac"
    })
    void theExecutedBlocksHaveTheSameInstructions(String id, String toolchain, String core) {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        Path image = HandWrittenModel.build(board, toolchain, Io.CALLER, folder);
        InstructionCounter counter = new InstructionCounter(Emulator.of(board, LIMIT), new ConsoleProtocol(LIMIT));
        InstructionCounts counts = counter.count(image, "hand", HandWrittenModel.OPERATORS, INPUT);
        List<ExecutedBlock> blocks = counter.blocks(image, "hand", HandWrittenModel.OPERATORS, INPUT, counts);
        CycleEstimate cycles = CycleEstimator.estimate(ElfFile.read(image), blocks, CoreTables.require(core));
        assertThat(cycles.unknown()).isZero();
        assertThat(cycles.whole().instructions()).isEqualTo(counts.total());
        assertThat(cycles.whole().cycles().low()).isGreaterThan(counts.total() / 2);
        assertThat(cycles.owners()).hasSize(1 + HandWrittenModel.OPERATORS.size());
        for (int i = 0; i < HandWrittenModel.OPERATORS.size(); i++) {
            assertThat(cycles.owners().get(i + 1).instructions())
                    .isEqualTo(counts.operators().get(HandWrittenModel.OPERATORS.get(i)));
        }
        assertThatThrownBy(() -> counter.blocks(
                        image,
                        "hand",
                        HandWrittenModel.OPERATORS,
                        INPUT,
                        new InstructionCounts(
                                counts.total() + 1, counts.operators(), counts.outputs(), counts.stackUsed())))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the log of executed blocks has " + counts.total() + " instructions");
    }

    /** SysTick counts down once in 40 instructions when an instruction takes a nanosecond and the clock has 25 MHz. */
    @Test
    void theCountIsThatOfAPlainRun() throws IOException {
        Board board = HandWrittenModel.board("mps2-an386");
        TestTools.need(board);
        Path image = HandWrittenModel.build(board, "clang", Io.CALLER, folder.resolve("counted"));
        long counted = new InstructionCounter(Emulator.of(board, LIMIT), new ConsoleProtocol(LIMIT))
                .count(image, "hand", HandWrittenModel.OPERATORS, INPUT)
                .total();
        long ticks = ticksOfTenThousandRuns(board);
        assertThat(40.0 * ticks / 10_000).isCloseTo((double) counted, Percentage.withPercentage(0.1));
    }

    private long ticksOfTenThousandRuns(Board board) throws IOException {
        Path timed = folder.resolve("timed");
        Files.writeString(Files.createDirectories(timed.resolve("main")).resolve("main.c"), """
            #include <stdint.h>
            #include "kiln_console.h"
            #include "tvmgen_hand.h"
            #define SYST ((volatile uint32_t*)0xe000e010)
            static int32_t x[16];
            static int32_t whole[16];
            static float real[32];
            typedef int32_t model(struct tvmgen_hand_inputs*, struct tvmgen_hand_outputs*);
            static int32_t nothing(struct tvmgen_hand_inputs* inputs, struct tvmgen_hand_outputs* outputs) {
              (void)inputs;
              (void)outputs;
              return 0;
            }
            static uint32_t time(model* volatile run, int runs) {
              struct tvmgen_hand_inputs inputs = {x};
              struct tvmgen_hand_outputs outputs = {whole, real};
              uint32_t start = SYST[2];
              for (volatile int i = 0; i < runs; ++i) {
                run(&inputs, &outputs);
              }
              return (start - SYST[2]) & 0xffffffu;
            }
            int main(void) {
              for (int i = 0; i < 16; ++i) {
                x[i] = -40 + 7 * i;
              }
              SYST[1] = 0xffffff;
              SYST[2] = 0;
              SYST[0] = 5;
              uint32_t ticks = time(tvmgen_hand_run, 10000) - time(nothing, 10000);
              for (int digit = 28; digit >= 0; digit -= 4) {
                kiln_console_put((uint8_t)"0123456789abcdef"[(ticks >> digit) & 15u]);
              }
              return 0;
            }
            """);
        Path image = HandWrittenModel.build(board, "clang", Io.CALLER, timed);
        try (RunningProcess process = Emulator.of(board, LIMIT).start(image, List.of("-icount", "shift=0,sleep=off"))) {
            StringBuilder hex = new StringBuilder();
            ImageConsole.follow(process.output(), LIMIT, hex::append, text -> false);
            return Long.parseLong(hex.toString(), 16);
        }
    }

    @Test
    void aFunctionThatIsNotThereIsNamed() {
        Board board = HandWrittenModel.board("mps2-an386");
        Path image = HandWrittenModel.build(board, "clang", Io.CALLER, folder);
        InstructionCounter counter = new InstructionCounter(Emulator.of(board, LIMIT), new ConsoleProtocol(LIMIT));
        assertThatThrownBy(() -> counter.count(image, "foot", List.of("tvmgen_foot_fused_kick"), INPUT))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("tvmgen_foot_run")
                .hasMessageContaining("tvmgen_foot_fused_kick");
    }

    /** The model asked for is counted by its entry point; one that never returns is stopped by the emulator's limit. */
    @Test
    void anImageThatHangsIsStoppedAndLeavesNothing() throws IOException {
        Board board = HandWrittenModel.board("mps2-an386");
        TestTools.need(board);
        Path image = HandWrittenModel.build(board, "clang", Io.CALLER, folder);
        List<Path> before = temporaryFolders();
        InstructionCounter counter = new InstructionCounter(
                Emulator.of(board, Duration.ofSeconds(3)), new ConsoleProtocol(Duration.ofSeconds(3)));
        assertThatThrownBy(() -> counter.count(image, "hand", HandWrittenModel.OPERATORS, HANGS))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("longer than 3 s");
        // Other tests run at the same time, and theirs go as well.
        List<Path> added = temporaryFolders();
        added.removeAll(before);
        long end = System.nanoTime() + Duration.ofMinutes(1).toNanos();
        while (added.stream().anyMatch(Files::exists) && System.nanoTime() < end) {
            LockSupport.parkNanos(100_000_000);
        }
        assertThat(added).noneMatch(Files::exists);
    }

    private static List<Path> temporaryFolders() throws IOException {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return new ArrayList<>(
                    files.filter(file -> file.getFileName().toString().matches("kiln[0-9]+"))
                            .toList());
        }
    }

    @Test
    void thisComputerDoesNotCount() {
        Emulator host = Emulator.of(HandWrittenModel.board("host"), LIMIT);
        assertThatThrownBy(() -> new InstructionCounter(host, new ConsoleProtocol(LIMIT))
                        .count(folder, "hand", List.of(), INPUT))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("cannot be counted on host");
    }
}
