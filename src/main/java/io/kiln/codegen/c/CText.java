// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

/** Text that goes into C files. */
public final class CText {
    private CText() {}

    /** Keeps text from ending the comment it stands in, or leaving its line. */
    public static String comment(String text) {
        return text.replaceAll("[^\\x20-\\x7e]", "?").replace("*/", "* /").replace("/*", "/ *");
    }
}
