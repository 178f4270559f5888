// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Formats argument lists for a POSIX shell: for logs and makefiles, never for running. */
public final class ShellWords {
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@%+=:,./-]+");

    private ShellWords() {}

    /** All words, quoted where needed, separated by blanks. */
    public static String join(List<String> words) {
        return words.stream().map(ShellWords::quote).collect(Collectors.joining(" "));
    }

    /** One word in single quotes, or unchanged if no character in it is special to a shell. */
    public static String quote(String word) {
        return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
