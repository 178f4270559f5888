// SPDX-License-Identifier: Apache-2.0
package io.kiln.target;

import io.kiln.base.ByteSize;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.OptionalLong;

/**
 * How much RAM a model may take for copies of what lies in flash.
 *
 * @param kind which of it is copied
 * @param bytes the most bytes; only of {@link Kind#SOME}
 */
public record RamShare(Kind kind, OptionalLong bytes) {
    /** What saves most in the RAM that a board has to spare. */
    public static final RamShare AUTO = new RamShare(Kind.AUTO, OptionalLong.empty());

    /** Nothing. */
    public static final RamShare NONE = new RamShare(Kind.NONE, OptionalLong.empty());

    /** Everything. */
    public static final RamShare ALL = new RamShare(Kind.ALL, OptionalLong.empty());

    /** Whether a build asks for it, whatever the board is. */
    public boolean isAsked() {
        return kind == Kind.ALL || kind == Kind.SOME;
    }

    /** Which content is copied. */
    public enum Kind {
        /** What saves most, as far as the board has RAM to spare. */
        AUTO,
        /** Nothing. */
        NONE,
        /** What saves most, up to a number of bytes. */
        SOME,
        /** Everything. */
        ALL
    }

    /**
     * Reads a parameter.
     *
     * @param parameter its name, for messages
     * @param text {@code auto}, {@code none}, {@code all} or a size such as {@code 16K}
     * @throws KilnException if it is none of them
     */
    public static RamShare of(String parameter, String text) {
        return switch (text.strip()) {
            case "auto" -> AUTO;
            case "none" -> NONE;
            case "all" -> ALL;
            default -> some(parameter, text);
        };
    }

    private static RamShare some(String parameter, String text) {
        OptionalLong size = ByteSize.parse(text.strip());
        if (size.isEmpty()) {
            throw Failure.CONFIG.exception(
                    parameter + " is '" + text + "'",
                    "",
                    "auto, none, all, or bytes such as 16K",
                    "Correct " + parameter);
        }
        return new RamShare(Kind.SOME, size);
    }
}
