// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.TargetOptions;
import io.kiln.toolchain.compiler.Toolchains;
import java.util.Optional;

/** Decides between the toolchain that a build names, the one that its board asks for, and the default. */
public final class ToolchainChoice {
    private ToolchainChoice() {}

    /**
     * Name of the toolchain to take: the build's word counts before the board's.
     *
     * @param asked what the build names
     * @throws KilnException if the build names another one than the board requires
     */
    public static String of(Optional<String> asked, Board board) {
        Optional<Board.Choice> choice = board.building().toolchain();
        choice.filter(Board.Choice::required)
                .filter(only ->
                        asked.filter(name -> !name.equals(only.toolchain())).isPresent())
                .ifPresent(only -> {
                    throw new KilnException(new Problem(
                            "the board " + board.id() + " is built with toolchain " + only.toolchain()
                                    + " only, and the build asks for " + asked.get(),
                            only.where(),
                            "kiln.toolchain " + only.toolchain() + ", or none",
                            "A board of your own that extends it may say otherwise: toolchain: " + asked.get()));
                });
        return asked.or(() -> choice.map(Board.Choice::toolchain))
                .orElseGet(() -> Toolchains.defaultFor(TargetOptions.parse(board.target())));
    }
}
