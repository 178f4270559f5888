// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import java.util.HashSet;
import java.util.Set;

/** Gives out identifiers that Relay can read: letters, digits and underscores, no leading digit, none twice. */
final class RelayNames {
    private final Set<String> taken = new HashSet<>();

    String of(String name) {
        String plain = name.replaceAll("[^A-Za-z0-9_]", "_");
        String base = plain.isEmpty() || Character.isDigit(plain.charAt(0)) ? "v_" + plain : plain;
        String unique = base;
        for (int i = 1; !taken.add(unique); i++) {
            unique = base + "_" + i;
        }
        return unique;
    }
}
