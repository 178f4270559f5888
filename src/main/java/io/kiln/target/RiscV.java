// SPDX-License-Identifier: Apache-2.0
package io.kiln.target;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A RISC-V architecture string (RISC-V ISA manual, naming conventions), such as {@code rv32imac_zba}.
 *
 * @param bits 32 or 64
 * @param letters single-letter extensions, {@code g} written out
 */
record RiscV(int bits, String letters) {
    private static final Pattern MARCH =
            Pattern.compile("rv(32|64)([ieg][macfdqvbph]*)((_?[zsx][a-z0-9]+)(_[a-z0-9]+)*)?");

    static Optional<RiscV> parse(String march) {
        Matcher matcher = MARCH.matcher(march);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        return Optional.of(
                new RiscV(Integer.parseInt(matcher.group(1)), matcher.group(2).replace("g", "imafd")));
    }

    boolean has(char extension) {
        return letters.indexOf(extension) >= 0;
    }
}
