// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.incremental.Fingerprint.NoInput;
import java.util.Optional;

/**
 * The machine that an image is for: board, toolchain, and how it is updated.
 *
 * @param board id of the board
 * @param toolchain id of the toolchain, such as {@code clang}; empty for the board's default
 * @param boardSources where boards come from, beside those built in and the project's own
 * @param update how it is updated in the field
 */
public record MachineSpec(
        @NoInput(because = "the board that was found by it is an input itself")
        String board,

        @NoInput(because = "generated C is the same for every compiler, and a verified image is an input itself")
        Optional<String> toolchain,

        @NoInput(because = "the board that was found in them is an input itself")
        BoardSources boardSources,

        @NoInput(because = "the linked image holds it, and a verified image is an input itself")
        UpdateSpec update) {}
