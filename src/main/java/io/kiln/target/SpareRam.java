// SPDX-License-Identifier: Apache-2.0
package io.kiln.target;

import io.kiln.base.ByteSize;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.OptionalLong;

/**
 * What a machine has to spare of its RAM for copies of what lies in flash, and what these save.
 *
 * @param share the most bytes that a model takes without being asked
 * @param variables bytes of the memory of variables, workspace and stack
 * @param hasFastCode whether code in RAM reaches the core without waiting
 * @param constants how loads from flash wait
 * @param code how instructions from flash wait
 */
public record SpareRam(long share, long variables, boolean hasFastCode, Reads constants, Reads code) {
    /** A machine whose flash makes nobody wait, or that is not known. */
    public static final SpareRam NONE = new SpareRam(0, 0, false, Reads.FREE, Reads.FREE);

    /** Operators that compute several rows in a call take this part of the share, */
    private static final int ROWS_OF_SHARE = 8;

    /** all but this one where copies of weights help little, */
    private static final int COPIES_OF_SHARE = 4;

    /** and of the variables at most this one. */
    private static final int ROWS_OF_VARIABLES = 16;

    /**
     * Bytes that a program may take beyond its least memory for operators that compute several rows in a call, and so read their weights less
     * often; 0 where reading them makes nobody wait.
     *
     * @param canCopy whether the weights that are read most fit the share
     */
    public long forRows(boolean canCopy) {
        long rows = canCopy ? share / ROWS_OF_SHARE : share - share / COPIES_OF_SHARE;
        return constants.states() == 0 ? 0 : Math.min(rows, variables / ROWS_OF_VARIABLES);
    }

    /**
     * Reads of flash by one bus.
     *
     * @param states cycles that the core waits for a line that no cache has
     * @param lineBytes bytes of such a line
     * @param cacheBytes size of the cache; 0 if there is none
     */
    public record Reads(int states, int lineBytes, int cacheBytes) {
        /** Reads that never wait. */
        public static final Reads FREE = new Reads(0, Integer.BYTES, 0);
    }

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
}
