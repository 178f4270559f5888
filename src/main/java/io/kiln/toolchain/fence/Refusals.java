// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Collects refusals without duplicates. */
public final class Refusals {
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

    /**
     * A place in untrusted text that is outside the allowed language.
     *
     * @param file the source, as named by line markers
     * @param line from 1
     * @param what what it is, in one clause
     */
    public record Refusal(String file, int line, String what) {
        /** File and line, for messages. */
        public String where() {
            return file + ":" + line;
        }
    }
}
