// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import java.util.HashSet;
import java.util.Set;

/** Creates unique identifiers for Relay text: letters, digits and underscores, no leading digit, no keyword. */
final class RelayNames {
    /** Names that TVM's tokenizer treats as keywords even after a mark. */
    private static final Set<String> KEYWORDS = Set.of(
            "let", "fn", "def", "if", "else", "type", "match", "extern", "free_var", "ref", "ref_read", "ref_write");

    private static final String INFINITE = "inff";

    private final Set<String> taken = new HashSet<>();

    String of(String name) {
        String plain = name.replaceAll("[^A-Za-z0-9_]", "_");
        boolean isWord = plain.isEmpty()
                || Character.isDigit(plain.charAt(0))
                || KEYWORDS.contains(plain)
                || plain.startsWith(INFINITE);
        String base = isWord ? "v_" + plain : plain;
        String unique = base;
        for (int i = 1; !taken.add(unique); i++) {
            unique = base + "_" + i;
        }
        return unique;
    }
}
