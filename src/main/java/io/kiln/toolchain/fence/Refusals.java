// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Collects refusals, each once. */
final class Refusals {
    /** A file of another kind altogether would have one in each line. */
    private static final int MOST = 20;

    private final Set<Refusal> found = new LinkedHashSet<>();

    void add(String file, int line, String what) {
        if (found.size() < MOST) {
            found.add(new Refusal(file, line, what));
        }
    }

    List<Refusal> list() {
        return new ArrayList<>(found);
    }

    /** Text that can be shown: short, and without what could move a terminal's cursor. */
    static String shown(String text) {
        String plain = text.replaceAll("[^ -~]", "?");
        return plain.length() > 60 ? plain.substring(0, 60) + "..." : plain;
    }
}
