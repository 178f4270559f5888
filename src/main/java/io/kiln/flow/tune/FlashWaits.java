// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.cycles.core.CycleRange.Bound;
import io.kiln.cycles.memory.MemorySetting;
import io.kiln.cycles.memory.MemorySetting.Region;
import io.kiln.cycles.memory.MemoryWait;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Board.Kind;
import io.kiln.toolchain.board.Board.Memory;
import java.util.Optional;

/**
 * How the flash of a board makes its core wait, on the board whose emulator runs candidates: its addresses stand for those of the board.
 *
 * @param flash how long the board's flash waits
 * @param memories read-only memories of the board that runs, which wait like that
 */
public record FlashWaits(MemoryWait flash, MemorySetting memories) {
    /** The waits of a board; empty if its profile does not describe them, or if nothing waits. */
    public static Optional<FlashWaits> of(Board board, Board runsOn) {
        return wait(board)
                .map(wait -> new FlashWaits(
                        wait,
                        new MemorySetting(
                                runsOn.memories().stream()
                                        .filter(memory -> memory.kind() == Kind.ROM)
                                        .map(memory -> new Region(
                                                memory.base(), memory.end(), Optional.of(wait), Optional.empty()))
                                        .toList(),
                                Bound.EXPECTED)));
    }

    /** Whether a board has flash for which its core waits, and which its profile describes. */
    public static boolean areKnown(Board board) {
        return wait(board).isPresent();
    }

    private static Optional<MemoryWait> wait(Board board) {
        return board.constants()
                .flatMap(Memory::waits)
                .filter(MemoryWait::isModelled)
                .filter(wait -> wait.states() > 0 || wait.missCycles().isPresent());
    }
}
