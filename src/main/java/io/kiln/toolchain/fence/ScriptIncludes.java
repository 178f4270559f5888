// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import io.kiln.toolchain.fence.Refusals.Refusal;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;

/** Counts what a linker reads for scripts that include each other: ten files that include the next one ten times are 10^10 files for a linker. */
public final class ScriptIncludes {
    /** Inclusions of a script, those in included scripts counted each time; real boards have one or two. */
    static final long MOST_INCLUSIONS = 1000;

    /** Characters of a script with all that it includes. */
    static final long MOST_CHARACTERS = 16 << 20;

    private final SortedMap<String, String> scripts;
    private final Map<String, Size> sizes = new HashMap<>();
    private final Set<String> open = new HashSet<>();

    private ScriptIncludes(SortedMap<String, String> scripts) {
        this.scripts = scripts;
    }

    /** A script as a linker reads it; a script that includes itself has no end. */
    private record Size(long inclusions, long characters, boolean isEndless) {
        Size plus(Size included) {
            return new Size(
                    capped(inclusions + included.inclusions + 1, MOST_INCLUSIONS),
                    capped(characters + included.characters, MOST_CHARACTERS),
                    isEndless || included.isEndless);
        }

        private static long capped(long number, long most) {
            return Math.min(number, most + 1);
        }
    }

    /**
     * Why scripts are refused together; empty if a linker reads little.
     *
     * @param scripts all of a board's scripts, text by name
     */
    public static Optional<Refusal> refusal(SortedMap<String, String> scripts) {
        ScriptIncludes includes = new ScriptIncludes(scripts);
        for (String name : scripts.keySet()) {
            Size size = includes.size(name);
            if (size.isEndless) {
                return Optional.of(new Refusal(name, 1, "INCLUDE of a script that includes itself"));
            }
            if (size.inclusions > MOST_INCLUSIONS || size.characters > MOST_CHARACTERS) {
                return Optional.of(new Refusal(
                        name,
                        1,
                        "a linker script that reads others more than " + MOST_INCLUSIONS + " times, or more than "
                                + MOST_CHARACTERS + " characters, by INCLUDE"));
            }
        }
        return Optional.empty();
    }

    private Size size(String name) {
        Size known = sizes.get(name);
        if (known != null) {
            return known;
        }
        String text = scripts.get(name);
        if (text == null) {
            return new Size(0, 0, false);
        }
        if (!open.add(name)) {
            return new Size(0, 0, true);
        }
        Size size = new Size(0, text.length(), false);
        for (String included : LinkerScript.includes(text)) {
            size = size.plus(size(included));
        }
        open.remove(name);
        sizes.put(name, size);
        return size;
    }
}
