// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** The C library of the user's own code. */
public enum Libc {
    /** What the toolchain has by itself, without a way to the board. */
    NONE,
    /** The small library of the GNU toolchain, newlib-nano or picolibc: its streams are the console, its memory is the board's. */
    NANO;

    /**
     * The library of a name, as in {@code kiln.libc}.
     *
     * @throws KilnException for any other text
     */
    public static Libc of(String text) {
        return Arrays.stream(values())
                .filter(libc -> libc.text().equals(text.strip()))
                .findFirst()
                .orElseThrow(() -> Failure.CONFIG.exception(
                        "there is no C library \"" + text + "\"",
                        "kiln.libc",
                        "one of " + Arrays.stream(values()).map(Libc::text).collect(Collectors.joining(", "))));
    }

    /** Its name in {@code kiln.libc}. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
