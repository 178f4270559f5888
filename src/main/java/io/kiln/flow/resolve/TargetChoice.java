// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.TargetText;
import io.kiln.flow.spec.CodegenSpec;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.TargetOptions;
import java.util.Optional;

/** The board with the target that {@code kiln.target} states. */
final class TargetChoice {
    private TargetChoice() {}

    /**
     * The board itself, or for the host's part of the stated target. A kind alone, such as {@code llvm}, takes the board's options.
     *
     * @throws KilnException if the target is wrong, or of another core than the board's
     */
    static Board of(Board board, CodegenSpec codegens) {
        Optional<String> host = codegens.host();
        if (host.isEmpty()) {
            return board;
        }
        Optional<String> kind = codegens.kind();
        if (kind.isPresent()) {
            String options =
                    board.target().substring(TargetText.kind(board.target()).length());
            return board.targeted(kind.get() + options);
        }
        TargetOptions own = TargetOptions.parse(board.target());
        TargetOptions stated = TargetOptions.parse(host.get());
        if (!core(own).equals(core(stated))) {
            throw new KilnException(new Problem(
                    "kiln.target is for another core than the board's",
                    "target `" + host.get() + "`",
                    "the core of `" + board.target() + "`",
                    "Correct kiln.target or kiln.board"));
        }
        return board.targeted(host.get());
    }

    private static String core(TargetOptions options) {
        return options.mcpu().split("\\+", -1)[0] + options.march();
    }
}
