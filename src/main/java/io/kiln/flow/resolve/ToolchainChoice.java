// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Building.NamedToolchain;
import io.kiln.toolchain.compiler.TargetOptions;
import io.kiln.toolchain.compiler.Toolchains;
import java.util.Optional;

/** Chooses between the toolchain that the build names, the one that its board names, and the default. */
public final class ToolchainChoice {
    private ToolchainChoice() {}

    /**
     * Name of the toolchain: the build's setting precedes the board's.
     *
     * @param asked the build's setting
     * @throws KilnException if the board requires another toolchain than the build names
     */
    public static String of(Optional<String> asked, Board board) {
        Optional<NamedToolchain> choice = board.building().toolchain();
        choice.filter(NamedToolchain::required)
                .filter(only ->
                        asked.filter(name -> !name.equals(only.toolchain())).isPresent())
                .ifPresent(only -> {
                    throw Failure.TOOL.exception(
                            "the board " + board.id() + " is built with toolchain " + only.toolchain()
                                    + " only, but the build asks for " + asked.get(),
                            only.where(),
                            "kiln.toolchain " + only.toolchain() + ", or none",
                            "A board of your own that extends it may name another: toolchain: " + asked.get());
                });
        return asked.or(() -> choice.map(NamedToolchain::toolchain))
                .orElseGet(() -> Toolchains.defaultFor(TargetOptions.parse(board.target())));
    }
}
