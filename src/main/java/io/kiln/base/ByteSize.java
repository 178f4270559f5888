// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.OptionalLong;
import java.util.regex.Pattern;

/** Sizes as people write them: a number of bytes, or one with K, M or G for 1024, 1024² and 1024³. */
public final class ByteSize {
    private static final Pattern SIZE = Pattern.compile("[0-9]{1,10}|[0-9]{1,7}[KMG]");

    private ByteSize() {}

    /** The bytes; empty if the text is not a size. */
    public static OptionalLong parse(String text) {
        if (!SIZE.matcher(text).matches()) {
            return OptionalLong.empty();
        }
        int unit = "KMG".indexOf(text.charAt(text.length() - 1));
        long number = Long.parseLong(unit < 0 ? text : text.substring(0, text.length() - 1));
        return OptionalLong.of(number << (10 * (unit + 1)));
    }
}
