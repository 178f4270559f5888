// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import java.util.Optional;

/**
 * What an image is for.
 *
 * @param board id of the board
 * @param toolchain id of the toolchain, such as {@code clang}; empty for the board's default
 * @param boardSources where boards come from, beside those built in and the project's own
 * @param update how it is updated in the field
 */
public record MachineSpec(String board, Optional<String> toolchain, BoardSources boardSources, UpdateSpec update) {}
