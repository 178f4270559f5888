// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.elf.ElfFile;
import io.kiln.cycles.BlockSink;
import io.kiln.cycles.BlockSink.ExecutedBlock;
import io.kiln.device.emulator.FunctionCounter.BlockTrace;
import io.kiln.device.emulator.FunctionCounter.BlockTrace.Range;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Logs as QEMU 7.2 prints them, and others. */
final class BlockTraceTest {
    private static final long ENTRY = 0x100;
    private static final long END = 0x200;

    /** At 0x100: bl 0x110; pop {pc}. At 0x110: movs r0,#3; subs r0,#1; bne 0x112; bx lr. */
    private final BlockTrace trace = new BlockTrace(
            image(),
            new TreeMap<>(Map.of(0x100L, new Range(0x106, 0), 0x110L, new Range(0x118, 1))),
            ENTRY,
            END,
            BlockSink.NONE);

    private static ElfFile image() {
        ByteBuffer code = ByteBuffer.allocate(0x20).order(ByteOrder.LITTLE_ENDIAN);
        code.put(HexFormat.of().parseHex("00f006f800bd"));
        code.position(0x10).put(HexFormat.of().parseHex("03200138fdd17047"));
        ElfFile.Section text = new ElfFile.Section(".text", 1, 6, ENTRY, 0, code.capacity(), 0);
        return new ElfFile(code, 40, 0, List.of(text), List.of(), List.of(), List.of());
    }

    private void take(String log) {
        log.lines().forEach(line -> assertThat(trace.take(line)).as(line).isTrue());
    }

    private static String executed(String place, long address) {
        return String.format(Locale.ROOT, "Trace 0: 0x%s [00800408/%08x/00000110/ff020200] run%n", place, address);
    }

    private static final String BEFORE = executed("7f01", 0x90);
    private static final String CALL = "----------------\nIN: run\n0x00000100:  f000 f806  bl       #0x110\n\n";
    private static final String FIRST = """
        IN: op
        0x00000110:  2003       movs     r0, #3
        0x00000112:  3801       subs     r0, #1
        0x00000114:  d1fd       bne      #0x112

        """;
    private static final String LOOP =
            "IN: op\n0x00000112:  3801       subs     r0, #1\n0x00000114:  d1fd       bne      #0x112\n\n";

    @Test
    void blocksAreCountedForWhoCalledThem() {
        take(BEFORE + CALL + executed("7f02", 0x100) + FIRST + executed("7f03", 0x110) + LOOP);
        take(executed("7f04", 0x112));
        take("Stopped execution of TB chain before 0x7f04 [00000112] run\n" + executed("7f04", 0x112));
        take("IN: op\n0x00000116:  4770       bx       lr\n\n" + executed("7f05", 0x116));
        take("IN: run\n0x00000104:  bd00       pop      {pc}\n\n" + executed("7f06", 0x104));
        assertThat(trace.result()).isNotDone();
        take(executed("7f07", END) + executed("7f04", 0x112));
        assertThat(trace.result())
                .isCompletedWithValue(List.of(
                        new ExecutedBlock(0, 0x100, 1, 1, 1),
                        new ExecutedBlock(1, 0x110, 3, 1, 1),
                        new ExecutedBlock(1, 0x112, 2, 1, 0),
                        new ExecutedBlock(1, 0x116, 1, 1, 1),
                        new ExecutedBlock(0, 0x104, 1, 1, 1)));
    }

    /** Each block is told with the registers before it and behind it, also the last one. */
    @Test
    void blocksAreToldInOrderWithTheirRegisters() {
        List<String> told = new ArrayList<>();
        BlockTrace ordered = new BlockTrace(
                image(),
                new TreeMap<>(Map.of(0x100L, new Range(0x106, 0), 0x110L, new Range(0x118, 1))),
                ENTRY,
                END,
                (owner, start, instructions, before, behind) -> told.add(owner + " " + Long.toHexString(start) + " "
                        + instructions + " " + before[0] + " " + before[15] + " " + behind[0]));
        String log = BEFORE + registers(1) + CALL + executed("7f02", 0x100) + registers(2) + FIRST
                + executed("7f03", 0x110) + registers(3) + "Stopped execution of TB chain before 0x7f03 [00000110] op\n"
                + executed("7f03", 0x110) + registers(4) + executed("7f07", END);
        log.lines().forEach(line -> assertThat(ordered.take(line)).as(line).isTrue());
        assertThat(ordered.result()).isNotDone();
        registers(5).lines().forEach(ordered::take);
        assertThat(ordered.result()).isDone();
        assertThat(told).containsExactly("0 100 1 2 17 4", "1 110 3 4 19 5");
    }

    @Test
    void theStateOfARiscVCoreIsPartOfTheLogToo() {
        take(BEFORE + CALL + "Priv: 3; Virt: 0\n" + executed("7f02", 0x100));
        take(" V      =   0\n pc       80000100\n mhartid  00000000\n mstatush 00000000\n");
        take(" x28/t3   00000000 x29/t4   00000000 x30/t5   00000000 x31/t6   00000007\n" + executed("7f07", END));
        assertThat(trace.result()).isNotDone();
        take(" x28/t3   00000000 x29/t4   00000000 x30/t5   00000000 x31/t6   00000007\n");
        assertThat(trace.result()).isCompletedWithValue(List.of(new ExecutedBlock(0, 0x100, 1, 1, 1)));
    }

    /** Registers as QEMU prints them: the first and the last hold a number and 15 more. */
    private static String registers(int number) {
        return String.format(
                Locale.ROOT,
                "R00=%08x R01=00000000 R02=00000000 R03=00000000%nR04=00000000 R05=00000000 R06=00000000 R07=00000000%n"
                        + "R08=00000000 R09=00000000 R10=00000000 R11=00000000%n"
                        + "R12=00000000 R13=20004000 R14=ffffffff R15=%08x%nXPSR=41000000 -Z-- T priv-thread%n",
                number,
                number + 15);
    }

    /** QEMU's disassembler shows what it does not know, such as a loop's end, in halves. */
    @Test
    void aBlockHasTheBytesThatWereShown() {
        take("IN: run\n0x00000100:  f000       .byte    0x00, 0xf0\n0x00000102:  f806       .byte    0x06, 0xf8\n\n");
        take(executed("7f02", 0x100) + executed("7f07", END));
        assertThat(trace.result()).isCompletedWithValue(List.of(new ExecutedBlock(0, 0x100, 1, 1, 1)));
    }

    @Test
    void aTruncatedLogHasNoResult() {
        take(CALL + executed("7f02", 0x100) + FIRST);
        assertThat(trace.take("Trace 0: 0x7f03 [00800")).isTrue();
        assertThat(trace.result()).isNotDone();
    }

    @ParameterizedTest
    @ValueSource(strings = {"qemu-system-arm: fatal", "Trace 0: 0x1 [a/zz/b] x", "0x: 12", "0xqq:  12", "warning: nic"})
    void whatIsNoLogIsLeftToOthers(String line) {
        assertThat(trace.take(line)).isFalse();
    }

    /** Executions of a block that was never shown are missed in the sum of instructions, which is compared. */
    @Test
    void aBlockThatWasNotShownHasNoInstructions() {
        take(executed("7f02", 0x100) + executed("7f07", END));
        assertThat(trace.result())
                .isCompletedWithValueMatching(blocks -> blocks.stream().allMatch(block -> block.instructions() == 0));
    }
}
