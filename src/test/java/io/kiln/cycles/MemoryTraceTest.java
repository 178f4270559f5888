// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.cycles.MemoryTrace.Loop;
import io.kiln.cycles.MemoryTrace.Stalls;
import io.kiln.cycles.core.CoreTables;
import io.kiln.cycles.core.CycleRange.Bound;
import io.kiln.cycles.memory.MemorySetting;
import io.kiln.cycles.memory.MemorySetting.RamCode;
import io.kiln.cycles.memory.MemorySetting.Region;
import io.kiln.cycles.memory.MemoryWait;
import io.kiln.cycles.memory.MemoryWait.Cache;
import io.kiln.cycles.memory.MemoryWait.DataCache;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Code of 40 blocks of 32 bytes, each of 15 additions and a branch; a cache of code holds 32 of them. */
final class MemoryTraceTest {
    private static final long START = 0x08000000;
    private static final int BLOCKS = 40;
    private static final int INSTRUCTIONS = 16;
    private static final int[] NONE = {};

    private static final MemoryWait WAIT = new MemoryWait(
            5,
            8,
            false,
            Optional.of(new Cache(32, 32, 0, 8)),
            Optional.of(new DataCache.Own(new Cache(8, 32, 0, 8))),
            Optional.empty());

    private static ElfFile image() {
        ByteBuffer code = ByteBuffer.allocate(BLOCKS * 2 * INSTRUCTIONS).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < BLOCKS; i++) {
            for (int k = 1; k < INSTRUCTIONS; k++) {
                // ldr r1, [r0] first, then adds r2, #1
                code.putShort((short) (k == 1 ? 0x6801 : 0x3201));
            }
            code.putShort((short) 0xe7fe);
        }
        ElfFile.Section text = new ElfFile.Section(".text", 1, 6, START, 0, code.capacity(), 0);
        Symbol function = new Symbol("kernel", START | 1, code.capacity(), 2, 1, 1);
        return new ElfFile(code, 40, 0, List.of(text), List.of(), List.of(function), List.of());
    }

    private static MemoryTrace trace(MemorySetting... settings) {
        return new MemoryTrace(image(), image(), CoreTables.require("cortex-m4"), List.of(settings));
    }

    private static MemorySetting setting(MemoryWait wait) {
        return new MemorySetting(
                List.of(new Region(START, START + 0x100000, Optional.of(wait), Optional.empty())), Bound.EXPECTED);
    }

    private static void run(MemoryTrace trace, List<Integer> order) {
        order.forEach(block -> trace.executed(1, START + 32L * block, INSTRUCTIONS, NONE, NONE));
    }

    private static List<Integer> turns(int blocks) {
        List<Integer> order = new ArrayList<>();
        for (int turn = 0; turn < 50; turn++) {
            for (int block = 0; block < blocks; block++) {
                order.add(block);
            }
        }
        return order;
    }

    @Test
    void theOrderOfBlocksMatters() {
        MemoryTrace inTurns = trace(setting(WAIT));
        MemoryTrace shuffled = trace(setting(WAIT));
        List<Integer> order = turns(BLOCKS);
        run(inTurns, order);
        Collections.shuffle(order, new Random(7));
        run(shuffled, order);
        // In turns, the line that is needed next has always just made room.
        assertThat(inTurns.stalls(0).fetch())
                .isGreaterThan(2 * shuffled.stalls(0).fetch());
        assertThat(shuffled.stalls(0).fetch()).isPositive();
        assertThat(inTurns.stalls(0, 1)).isEqualTo(inTurns.stalls(0));
        assertThat(inTurns.stalls(0, 0)).isEqualTo(Stalls.NONE);
    }

    @Test
    void loopsThatDoNotFitAreFoundWithTheirSize() {
        MemoryTrace large = trace(setting(WAIT));
        run(large, turns(BLOCKS));
        assertThat(large.loopsBeyond(0, 1024)).singleElement().satisfies(loop -> {
            assertThat(loop)
                    .extracting(Loop::function, Loop::address, Loop::bytes)
                    .containsExactly("kernel", START, 1280L);
            assertThat(loop.fetchStalls()).isEqualTo(large.stalls(0).fetch());
        });
        MemoryTrace small = trace(setting(WAIT));
        run(small, turns(30));
        assertThat(small.loopsBeyond(0, 1024)).isEmpty();
        assertThat(small.stalls(0).fetch()).isLessThan(large.stalls(0).fetch() / 20);
    }

    @Test
    void withoutWaitStatesOrInFastRamNothingWaits() {
        MemoryWait none = new MemoryWait(0, 8, true, WAIT.fetch(), WAIT.data(), WAIT.missCycles());
        MemoryTrace trace = trace(
                setting(none),
                setting(WAIT).withCode(RamCode.FAST),
                setting(WAIT).withCode(RamCode.SLOW));
        run(trace, turns(BLOCKS));
        assertThat(trace.stalls(0)).isEqualTo(Stalls.NONE);
        assertThat(trace.stalls(1)).isEqualTo(Stalls.NONE);
        assertThat(trace.stalls(2).fetch()).isPositive();
    }

    /** The first instruction of each block loads what register 0 points at. */
    @Test
    void constantsWaitWhereTheRegistersSayThatTheyLie() {
        MemoryTrace trace = trace(setting(WAIT), setting(WAIT).withConstants());
        int[] registers = new int[16];
        for (int i = 0; i < 10; i++) {
            registers[0] = (int) START + 0x8000 + 8 * i;
            trace.executed(1, START, INSTRUCTIONS, registers, registers);
        }
        assertThat(trace.stalls(0).data()).isEqualTo(10 * 5);
        assertThat(trace.stalls(1).data()).isZero();
        registers[0] = 0x20000000;
        trace.executed(1, START, INSTRUCTIONS, registers, registers);
        assertThat(trace.stalls(0).data()).isEqualTo(10 * 5);
        assertThat(trace.unknownLoads()).isZero();
        trace.executed(1, START, INSTRUCTIONS, NONE, NONE);
        assertThat(trace.unknownLoads()).isEqualTo(1);
    }
}
