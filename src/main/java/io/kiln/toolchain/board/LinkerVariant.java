// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import java.util.Locale;

/** Linker scripts that a board has beside its usual one, {@code memory.more.ld} beside {@code memory.ld}. */
enum LinkerVariant {
    /** The script of images with constants in a second memory. */
    MORE,
    /** The script of images whose parameters have flash sectors of their own. */
    PARAMETERS,
    /** The script of images whose models lie in slots. */
    SLOTS;

    /** The file of this script, given the usual one's. */
    String of(String usual) {
        return usual.replaceFirst("\\.ld$", "." + name().toLowerCase(Locale.ROOT) + ".ld");
    }
}
