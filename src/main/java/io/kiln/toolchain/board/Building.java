// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import java.util.List;
import java.util.Optional;

/**
 * How the firmware of a board is built.
 *
 * @param toolchain the toolchain to use; empty for any
 * @param compile flags of every compilation, after the toolchain's own; {@code -I} names folders of the board's
 * @param link flags of every link, after the toolchain's own
 * @param codegens the parts of the board's target that name other code generators, such as {@code my-npu -lanes=8}, before the core's own
 */
public record Building(
        Optional<NamedToolchain> toolchain, List<String> compile, List<String> link, List<String> codegens) {
    /** No toolchain and no flags. */
    public static final Building PLAIN = new Building(Optional.empty(), List.of(), List.of(), List.of());

    public Building {
        compile = List.copyOf(compile);
        link = List.copyOf(link);
        codegens = List.copyOf(codegens);
    }
}
