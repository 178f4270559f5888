// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.base.incremental.Fingerprint.NoInput;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * How the firmware of a board is built.
 *
 * @param toolchain the toolchain to use; empty for any
 * @param compile flags of every compilation, after the toolchain's own; {@code -I} names folders of the board's
 * @param link flags of every link, after the toolchain's own
 * @param codegens the parts of the board's target that name other code generators, such as {@code my-npu -lanes=8}, before the core's own
 * @param uf2Family the chip's family in UF2 files; empty if its boot loader takes none
 */
public record Building(
        Optional<NamedToolchain> toolchain,
        List<String> compile,
        List<String> link,
        List<String> codegens,
        OptionalLong uf2Family) {
    /** No toolchain and no flags. */
    public static final Building PLAIN =
            new Building(Optional.empty(), List.of(), List.of(), List.of(), OptionalLong.empty());

    public Building {
        compile = List.copyOf(compile);
        link = List.copyOf(link);
        codegens = List.copyOf(codegens);
    }

    /** The same settings with further linker flags. */
    Building linkedWith(List<String> more) {
        return new Building(toolchain, compile, joined(link, more), codegens, uf2Family);
    }

    /**
     * The same settings with further compiler flags.
     *
     * @param board id of the board, for messages
     * @throws KilnException naming each flag that no profile may have either
     */
    Building compiledWith(List<String> more, String board) {
        Problems problems = new Problems(Failure.BOARD);
        for (String flag : more) {
            CompilerFlags.refusal(flag)
                    .ifPresent(refusal -> problems.add(
                            "refused: the compiler flag " + CompilerFlags.printable(flag) + ": " + refusal.why(),
                            "board " + board,
                            CompilerFlags.ALLOWED,
                            refusal.remedy()));
        }
        problems.throwIfAny();
        return new Building(toolchain, joined(compile, more), link, codegens, uf2Family);
    }

    private static List<String> joined(List<String> flags, List<String> more) {
        return Stream.concat(flags.stream(), more.stream()).toList();
    }

    /**
     * The toolchain that a board names.
     *
     * @param toolchain id of a built-in descriptor
     * @param required whether no other toolchain is allowed
     * @param where file and line of the setting
     */
    public record NamedToolchain(
            String toolchain,
            boolean required,
            @NoInput(because = "a place for messages") String where) {}
}
