// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

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
    public static final Building PLAIN = new Building(Optional.empty(), List.of(), List.of(), List.of(), OptionalLong.empty());

    public Building {
        compile = List.copyOf(compile);
        link = List.copyOf(link);
        codegens = List.copyOf(codegens);
    }

    /** The same with other flags of compilations and links. */
    Building with(List<String> newCompile, List<String> newLink) {
        return new Building(toolchain, newCompile, newLink, codegens, uf2Family);
    }
}
