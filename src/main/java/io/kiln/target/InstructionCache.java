// SPDX-License-Identifier: Apache-2.0
package io.kiln.target;

import java.util.Optional;

/**
 * The cache between a core and the flash that its code lies in. A loop that is larger reads every line from flash again in each turn, because
 * the line that a turn needs next is the one that was used the longest time ago; at five wait states that takes up to three times as long.
 *
 * <p>The names of the attributes are those of the Devicetree Specification, 3.8.3.
 *
 * @param bytes its size
 * @param lineBytes bytes of a line
 */
public record InstructionCache(int bytes, int lineBytes) {
    /** The attribute of a target that states the size; 0 for code of any size. */
    public static final String SIZE = "i-cache-size";

    /** The attribute of a target that states the bytes of a line. */
    public static final String LINE = "i-cache-line-size";

    static final String SIZES = "a number of bytes from 512 to 1048576, or 0 for code of any size";
    static final String LINES = "4, 8, 16, 32, 64 or 128 bytes";

    private static final int LEAST = 512;
    private static final int MOST = 1 << 20;
    private static final int USUAL_LINE = 32;

    /** What a target says about it; empty if it does not. */
    static Optional<InstructionCache> of(Target target) {
        int line = target.attribute(LINE)
                .filter(InstructionCache::isLine)
                .map(Integer::parseInt)
                .orElse(USUAL_LINE);
        return target.attribute(SIZE)
                .filter(size -> isSize(size) && !size.equals("0"))
                .map(size -> new InstructionCache(Integer.parseInt(size), line));
    }

    /** Whether attributes of targets can state the size and the bytes of a line. */
    public static boolean isPossible(int bytes, int lineBytes) {
        return bytes > 0 && isSize("" + bytes) && isLine("" + lineBytes);
    }

    static boolean isSize(String text) {
        boolean isNumber = text.matches("0|[1-9][0-9]{2,6}");
        int bytes = isNumber ? Integer.parseInt(text) : LEAST - 1;
        return bytes == 0 || (bytes >= LEAST && bytes <= MOST);
    }

    static boolean isLine(String text) {
        return text.matches("4|8|16|32|64|128");
    }
}
