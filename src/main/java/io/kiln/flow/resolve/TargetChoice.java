// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.TargetText;
import io.kiln.flow.spec.CodegenSpec;
import io.kiln.target.CompositeTarget;
import io.kiln.target.InstructionCache;
import io.kiln.target.Target;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.TargetOptions;
import java.util.OptionalInt;

/** Chooses between the target that the build names and the board's. */
final class TargetChoice {
    private static final String PARAMETER = "kiln.target";

    private TargetChoice() {}

    /**
     * The board with the core's own part of the build's target. A kind alone, such as {@code llvm}, takes the options of the board's target, also
     * behind other code generators. A board whose code runs through a cache adds the size of that.
     *
     * @throws KilnException if it is not a target, or is for another core than the board's
     */
    static Board of(Board board, CodegenSpec codegens) {
        String own = board.target();
        return codegens.kind()
                .or(() -> codegens.target().map(CompositeTarget::hostText).filter(TargetText.HOST_KINDS::contains))
                .map(kind -> kind + own.substring(TargetText.kind(own).length()))
                .or(() -> codegens.target().map(text -> host(text, board)))
                .map(board::withTarget)
                .map(TargetChoice::cached)
                .orElseGet(() -> cached(board));
    }

    /** The target with what the board's profile says about its cache of instructions, unless the target itself says something. */
    private static Board cached(Board board) {
        OptionalInt size = board.loopBudget();
        OptionalInt line = board.loopLineBytes();
        boolean isSaid = TargetText.words(board.target()).stream()
                .anyMatch(word -> word.text().startsWith("-" + InstructionCache.SIZE));
        if (size.isEmpty() || isSaid || !InstructionCache.isPossible(size.getAsInt(), line.getAsInt())) {
            return board;
        }
        return board.withTarget(board.target() + " -" + InstructionCache.SIZE + "=" + size.getAsInt() + " -"
                + InstructionCache.LINE + "=" + line.getAsInt());
    }

    private static String host(String text, Board board) {
        String own = board.target();
        Target target = CompositeTarget.parse(text).host();
        if (!TargetText.HOST_KINDS.contains(target.kind().text())) {
            throw Failure.TARGET.exception(
                    "the target is of kind " + target.kind().text() + ", which runs no model by itself",
                    PARAMETER,
                    "a target of kind " + TargetText.HOSTS + ", behind all others",
                    "Add the board's, as in " + target.kind().text() + ", " + TargetText.kind(own));
        }
        String stated = target.text();
        if (!core(stated).equals(core(own))) {
            throw Failure.TARGET.exception(
                    "the target is for the core " + core(stated) + ", and the board " + board.id() + " has "
                            + core(own),
                    PARAMETER,
                    "the core of the board, as in " + own,
                    "Give the kind alone, which takes the board's options: "
                            + target.kind().text());
        }
        return stated;
    }

    /** The core without the extensions that are switched on or off. */
    private static String core(String target) {
        return TargetOptions.parse(target).cpu().replaceFirst("\\+.*", "");
    }
}
