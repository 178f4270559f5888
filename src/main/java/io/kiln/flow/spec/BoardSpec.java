// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.flow.spec.DeviceSpec.ConsoleSpec;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.Toolchains.Libc;
import java.util.Optional;

/**
 * A board among those that a project sees, without any model.
 *
 * @param id its id; there need not be such a board
 * @param boards all visible boards
 * @param toolchain id of the toolchain; empty for the board's default
 */
public record BoardSpec(String id, Boards boards, Optional<String> toolchain) {
    /**
     * The board.
     *
     * @throws io.kiln.base.KilnException if there is none with this id, or its profile is wrong
     */
    public Board board() {
        return boards.find(id);
    }

    /**
     * What a computer has to serve.
     *
     * @param board the board, and its toolchain
     * @param console how the board's console is found
     * @param libc the C library of the project's own code
     * @param testsOnHost whether the project has unit tests that run on this computer
     */
    public record DoctorSpec(BoardSpec board, ConsoleSpec console, Libc libc, boolean testsOnHost) {}
}
