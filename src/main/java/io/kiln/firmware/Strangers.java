// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The files of a project that are by people whom the build does not trust: those of untrusted parts of the board's profile, and those of
 * untrusted archives. What is compiled from any of them is fenced.
 *
 * @param files how to say that the build trusts a file's author, by the file's path in the project
 */
public record Strangers(NavigableMap<String, String> files) {
    /** Everything is the user's or Kiln's. */
    public static final Strangers NONE = new Strangers(new TreeMap<>());

    public Strangers {
        files = Collections.unmodifiableNavigableMap(new TreeMap<>(files));
    }

    /** Whether there are none. */
    public boolean isEmpty() {
        return files.isEmpty();
    }

    /** The files, in one line. */
    String names() {
        return String.join(",", files.keySet());
    }

    /** How to trust the first of these files that is a stranger's; empty if none is. */
    Optional<String> advice(Collection<String> paths) {
        return paths.stream()
                .filter(path -> files.containsKey(path))
                .map(path -> files.get(path))
                .findFirst();
    }

    /** How to trust them all, each author once. */
    public List<String> advice() {
        return files.values().stream().distinct().toList();
    }
}
