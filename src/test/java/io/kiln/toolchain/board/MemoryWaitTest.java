// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

    /** As the chips' reference manuals state them for the clock that the start-up code sets. */
    @ParameterizedTest
    @CsvSource({
        "nucleo-l4r5zi, 3, 8, true",
        "nucleo-f446re, 5, 16, true",
        "stm32f4-discovery, 5, 16, true",
        "b-u585i-iot02a, 4, 16, true",
        "nucleo-f746zg, 5, 32, false",
        "nucleo-h743zi, 5, 32, false",
        "stm32f405, 0, 16, false"
    })
    void theBoardsFlashSaysItsWaitStates(String board, int states, int lineBytes, boolean prefetch) {
        assertThat(Boards.builtIn().find(board).constants().flatMap(Board.Memory::waits))
                .contains(new MemoryWait(states, lineBytes, prefetch));
    }

    @Test
    void anEmulatedBoardHasNone() {
        assertThat(Boards.builtIn().find("mps2-an386").constants().flatMap(Board.Memory::waits))
                .isEmpty();
    }
}
