// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import java.util.ArrayList;
import java.util.List;

/** Reads the make rule that compilers write for {@code -MD}. */
final class DepFile {
    private DepFile() {}

    /** The prerequisites of the rule: the source and every header, as named by the compiler. */
    static List<String> prerequisites(String text) {
        String rule = text.replace("\\\r\n", " ").replace("\\\n", " ");
        List<String> names = new ArrayList<>();
        StringBuilder name = new StringBuilder();
        for (int i = rule.indexOf(':') + 1; i < rule.length(); i++) {
            char c = rule.charAt(i);
            char next = i + 1 < rule.length() ? rule.charAt(i + 1) : ' ';
            if ((c == '\\' && (next == ' ' || next == '#')) || (c == '$' && next == '$')) {
                name.append(next);
                i++;
            } else if (!Character.isWhitespace(c)) {
                name.append(c);
            } else if (!name.isEmpty()) {
                names.add(name.toString());
                name.setLength(0);
            }
            if (c == '\n') {
                break;
            }
        }
        if (!name.isEmpty()) {
            names.add(name.toString());
        }
        return names;
    }
}
