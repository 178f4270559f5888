// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.CodegenSpec;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.Toolchain;
import java.util.Optional;

/**
 * A build whose board and toolchain are known.
 *
 * @param spec the user's request
 * @param board the board
 * @param runsOn the board that runs the image: itself or its stand-in; empty if nothing on this computer does
 * @param toolchain the compiler, resolved for the board's core
 */
public record ResolvedBuild(BuildSpec spec, Board board, Optional<Board> runsOn, Toolchain toolchain) {

    /** The target string, with other code generators if there are any. */
    public String target() {
        CodegenSpec codegens = spec.pipeline().codegens();
        if (codegens.target().isEmpty() && codegens.externals().isEmpty()) {
            return board.target();
        }
        return CmsisNnTarget.of(codegens).versioned(codegens.target().orElse(board.target()));
    }

    /** Whether another board runs the image. */
    public boolean hasStandIn() {
        return runsOn.filter(other -> !other.id().equals(board.id())).isPresent();
    }
}
