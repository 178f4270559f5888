// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import io.kiln.toolchain.board.Board.Memory;
import java.util.List;
import java.util.Optional;

/**
 * The memories of a board.
 *
 * @param memories memories that an image may use; empty for the board {@code host}
 * @param pools which memory holds what; absent for the board {@code host}
 */
public record BoardMemories(List<Memory> memories, Optional<PoolMemories> pools) {
    public BoardMemories {
        memories = List.copyOf(memories);
    }

    /** The memory of this name. */
    public Optional<Memory> memory(String name) {
        return memories.stream().filter(m -> m.name().equals(name)).findFirst();
    }
}
