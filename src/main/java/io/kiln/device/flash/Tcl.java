// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Formats commands of OpenOCD's language, Jim Tcl, so that values cannot be interpreted as code. */
final class Tcl {
    private static final String PLAIN = "_./:-,=+@";

    private Tcl() {}

    /** A value as one quoted word, without substitution. */
    static String word(String value) {
        if (value.isEmpty()) {
            return "{}";
        }
        StringBuilder word = new StringBuilder();
        value.codePoints().forEach(c -> append(word, c));
        return word.toString();
    }

    private static void append(StringBuilder word, int c) {
        boolean isLetterOrDigit = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (isLetterOrDigit || PLAIN.indexOf(c) >= 0 || c > 0x7f) {
            word.appendCodePoint(c);
        } else if (c < ' ' || c == 0x7f) {
            word.append(String.format(Locale.ROOT, "\\u%04x", c));
        } else {
            word.append('\\').appendCodePoint(c);
        }
    }

    /** A command and its arguments. */
    static String command(String... words) {
        List<String> quoted = new ArrayList<>();
        for (String each : words) {
            quoted.add(word(each));
        }
        return String.join(" ", quoted);
    }

    /** A list as one word. */
    static String list(List<String> values) {
        return word(command(values.toArray(new String[0])));
    }

    static String address(long address) {
        return String.format(Locale.ROOT, "0x%08x", address);
    }
}
