// SPDX-License-Identifier: Apache-2.0
package io.kiln.target;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;

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

    private static final int SMALL = 1024;
    private static final int MIDDLE = 8 * 1024;
    private static final int LEAST = 512;
    private static final int MOST = 1 << 20;
    private static final int USUAL_LINE = 32;

    /** Sizes of caches in which other kernels are the fastest ones. */
    public enum SizeClass {
        /** Up to 1 KB, as in STM32L4, G4 and F4. */
        SMALL,
        /** Up to 8 KB, as in STM32U5 and H5, and the smaller caches of Cortex-M7. */
        MIDDLE,
        /** Larger ones. */
        LARGE;

        /** As in names of files. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** The class of a cache of so many bytes. */
        public static SizeClass of(int bytes) {
            return bytes <= InstructionCache.SMALL ? SMALL : bytes <= InstructionCache.MIDDLE ? MIDDLE : LARGE;
        }
    }

    /**
     * The size that the text of a target states; empty if it states none, none that is possible, or code of any size. The target is not parsed,
     * because logs of tuning records have targets of all of TVM's code generators.
     */
    public static OptionalInt stated(String target) {
        String start = "-" + SIZE + "=";
        return Arrays.stream(target.split("\\s+"))
                .filter(word -> word.startsWith(start))
                .map(word -> word.substring(start.length()))
                .filter(size -> isSize(size) && !size.equals("0"))
                .mapToInt(Integer::parseInt)
                .findFirst();
    }

    /** Whether what was the fastest on a target may be so on another: the caches that both state are of a class, and the other's is no smaller; or none states one. */
    public static boolean holds(String searched, String target) {
        OptionalInt before = stated(searched);
        OptionalInt now = stated(target);
        if (before.isEmpty() || now.isEmpty()) {
            return before.equals(now);
        }
        return before.getAsInt() <= now.getAsInt() && SizeClass.of(before.getAsInt()) == SizeClass.of(now.getAsInt());
    }

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
