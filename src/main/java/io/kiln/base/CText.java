// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

/** Foreign text in C files. All comments with text from elsewhere are made here. */
public final class CText {
    private CText() {}

    /**
     * Text that neither ends its comment nor leaves its line, in a comment of either kind: ASCII only, no start or end
     * of a comment, no trigraph (one of them is a backslash), and no backslash at the end, even before blanks, because
     * it would join lines.
     */
    public static String comment(String text) {
        String safe = text.replaceAll("[^\\x20-\\x7e]", "?")
                .replaceAll("\\?(?=\\?)", "? ")
                .replace("*/", "* /")
                .replace("/*", "/ *");
        return safe.stripTrailing().endsWith("\\") ? safe + "." : safe;
    }
}
