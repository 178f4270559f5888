// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import io.kiln.base.incremental.NoInput;
import java.util.Optional;

/**
 * What a board is called, and where it comes from.
 *
 * @param id name of its folder, as in {@code kiln.board}
 * @param title one line for people
 * @param maker the vendor
 * @param origin path of its board.yaml
 */
public record BoardIdentity(
        String id,
        String title,
        Maker maker,

        @NoInput(because = "where its profile lies on this computer")
        String origin) {
    /**
     * The vendor of a board.
     *
     * @param vendor name, if the profile says it
     * @param url the vendor's page about the board, if the profile says it
     */
    public record Maker(Optional<String> vendor, Optional<String> url) {
        /** No vendor is named. */
        public static final Maker UNKNOWN = new Maker(Optional.empty(), Optional.empty());
    }
}
