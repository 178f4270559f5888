// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class MemoryWaitTest {
    @Test
    void stallsAreBoundedByLinesBranchesAndLoads() {
        // 100 lines of 8 bytes, each three cycles late, 10 branches and 20 loads.
        assertThat(new MemoryWait(3, 8, false).stallsAtMost(800, 10, 20)).isEqualTo(300 + 90);
        // The next line is read while two instructions are executed.
        assertThat(new MemoryWait(3, 8, true).stallsAtMost(800, 10, 20)).isEqualTo(100 + 90);
        assertThat(new MemoryWait(3, 32, true).stallsAtMost(800, 10, 20)).isEqualTo(90);
        assertThat(new MemoryWait(0, 4, false).stallsAtMost(800, 10, 20)).isZero();
    }

    @Test
    void theBoardsFlashSaysItsWaitStates() {
        Board board = Boards.builtIn().find("nucleo-l4r5zi");
        assertThat(board.constants().flatMap(Board.Memory::waits)).contains(new MemoryWait(3, 8, true));
        assertThat(Boards.builtIn().find("mps2-an386").constants().flatMap(Board.Memory::waits))
                .isEmpty();
    }
}
