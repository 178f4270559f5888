// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

/** Text that goes into C files and is not C itself. Every comment whose text comes from elsewhere is made here. */
public final class CText {
    private CText() {}

    /**
     * Text that neither ends the comment it stands in nor leaves its line, in a comment of either kind: no letters but those of ASCII,
     * no beginning or end of a comment, no trigraph (one of them is a backslash), and no backslash at the end, which would join lines, blanks behind it or not.
     */
    public static String comment(String text) {
        String safe = text.replaceAll("[^\\x20-\\x7e]", "?")
                .replaceAll("\\?(?=\\?)", "? ")
                .replace("*/", "* /")
                .replace("/*", "/ *");
        return safe.stripTrailing().endsWith("\\") ? safe + "." : safe;
    }
}
