// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import io.kiln.base.incremental.NoInput;

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
