// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.cycles.core.CycleRange.Bound;
import io.kiln.cycles.memory.MemorySetting;
import io.kiln.cycles.memory.MemorySetting.RamCode;
import io.kiln.cycles.memory.MemorySetting.Region;
import io.kiln.cycles.memory.MemoryWait;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Board.AlternativeWait;
import io.kiln.toolchain.board.Board.CodeFetch;
import io.kiln.toolchain.board.Board.Memory;
import io.kiln.toolchain.board.Board.Timing;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The settings of a board's memories that a profile counts: as they are, expected, low and high, and what could be changed.
 *
 * @param flash how long the memory of code and constants waits
 * @param changes other settings
 * @param all the three and those of the changes, in this order
 */
record MemorySettings(MemoryWait flash, List<Change> changes, List<MemorySetting> all) {
    static final int EXPECTED = 0;
    static final int LOW = 1;
    static final int HIGH = 2;

    /** How many come before those of the changes. */
    static final int FIRST_CHANGE = 3;

    /**
     * Another setting.
     *
     * @param title one line for people
     * @param hertz the core's clock then; empty if it is the same
     */
    record Change(String title, OptionalLong hertz) {}

    /** The settings of a board; empty if its profile does not describe the caches of its flash. */
    static Optional<MemorySettings> of(Board board) {
        return board.constants()
                .flatMap(Memory::waits)
                .filter(MemoryWait::isModelled)
                .map(flash -> of(board, flash));
    }

    /** Only what is expected, which takes a fraction of the time; low and high are the same then. */
    MemorySettings onlyExpected() {
        return new MemorySettings(flash, List.of(), all.subList(EXPECTED, LOW));
    }

    /** The number of a setting among {@link #all}. */
    int number(int setting) {
        return Math.min(setting, all.size() - 1);
    }

    /** Whether any memory makes the core wait as it is set up. */
    boolean waits() {
        return all.get(EXPECTED).regions().stream()
                .flatMap(region -> region.waits().stream())
                .anyMatch(wait -> wait.states() > 0 || wait.missCycles().isPresent());
    }

    private static MemorySettings of(Board board, MemoryWait flash) {
        MemorySetting expected = setting(board.memories(), Bound.EXPECTED);
        List<Change> changes = new ArrayList<>();
        List<MemorySetting> all = new ArrayList<>(
                List.of(expected, setting(board.memories(), Bound.LOW), setting(board.memories(), Bound.HIGH)));
        if (flash.states() > 0) {
            Optional<RamCode> ram = board.memories().stream()
                    .flatMap(memory -> ram(memory).stream())
                    .max(RamCode::compareTo);
            ram.ifPresent(code -> {
                String where = code == RamCode.SLOW ? "RAM, by the system bus" : "RAM";
                changes.add(new Change("all code in " + where, OptionalLong.empty()));
                all.add(expected.withCode(code));
                changes.add(new Change("all weights and code in " + where, OptionalLong.empty()));
                all.add(expected.withCode(code).withConstants());
            });
            changes.add(new Change("all weights in RAM", OptionalLong.empty()));
            all.add(expected.withConstants());
        }
        for (Memory memory : board.memories()) {
            for (AlternativeWait other : memory.alternatives()) {
                changes.add(new Change(other.title(), other.hertz()));
                all.add(setting(
                        board.memories().stream()
                                .map(one -> one.equals(memory) ? with(one, other.waits()) : one)
                                .toList(),
                        Bound.EXPECTED));
            }
        }
        return new MemorySettings(flash, List.copyOf(changes), List.copyOf(all));
    }

    private static Memory with(Memory memory, MemoryWait waits) {
        return new Memory(
                memory.name(),
                memory.kind(),
                memory.base(),
                memory.size(),
                new Timing(memory.speed(), Optional.of(waits), memory.alternatives()),
                memory.wiring());
    }

    private static MemorySetting setting(List<Memory> memories, Bound bound) {
        return new MemorySetting(
                memories.stream()
                        .map(memory -> new Region(memory.base(), memory.end(), memory.waits(), ram(memory)))
                        .toList(),
                bound);
    }

    private static Optional<RamCode> ram(Memory memory) {
        return memory.fetch().map(fetch -> fetch == CodeFetch.SYSTEM_BUS ? RamCode.SLOW : RamCode.FAST);
    }
}
