// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import java.util.regex.Pattern;

/** Finds out whether a C file defines {@code main}. */
final class MainFunction {
    private static final Pattern SKIPPED =
            Pattern.compile("//[^\\n]*|/\\*.*?\\*/|\"(?:\\\\.|[^\"\\\\\\n])*\"", Pattern.DOTALL);
    private static final Pattern DEFINITION =
            Pattern.compile("\\b(?:int|void|noreturn|_Noreturn)\\b[\\s\\w]*?\\bmain\\s*\\([^;{}()]*\\)[^;{}()]*\\{");

    private MainFunction() {}

    /** Comments and strings do not count, nor does a mere declaration. */
    static boolean isDefinedIn(String source) {
        return DEFINITION.matcher(SKIPPED.matcher(source).replaceAll(" ")).find();
    }
}
