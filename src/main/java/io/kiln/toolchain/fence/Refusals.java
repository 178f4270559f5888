// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Collects refusals without duplicates. */
final class Refusals {
    /** Limit, because a file of a wholly different kind would have one in each line. */
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

    /** Text in printable form: short, without control characters. */
    static String shown(String text) {
        String plain = text.replaceAll("[^ -~]", "?");
        return plain.length() > 60 ? plain.substring(0, 60) + "..." : plain;
    }
}
