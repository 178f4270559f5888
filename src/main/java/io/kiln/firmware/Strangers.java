// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The untrusted files of a project: those of untrusted parts of the board's profile, and those of untrusted archives.
 * They are compiled through the {@link Fence}, and so is everything that reads them.
 *
 * @param files how to trust a file's author, by the file's path in the project
 */
public record Strangers(NavigableMap<String, String> files) {
    /** No untrusted files: all are the user's or Kiln's. */
    public static final Strangers NONE = new Strangers(new TreeMap<>());

    public Strangers {
        files = Collections.unmodifiableNavigableMap(new TreeMap<>(files));
    }

    public boolean isEmpty() {
        return files.isEmpty();
    }

    /** The files, in one line. */
    String names() {
        return String.join(",", files.keySet());
    }

    /** How to trust the first untrusted file among these; empty if there is none. */
    Optional<String> advice(Collection<String> paths) {
        return paths.stream()
                .filter(path -> files.containsKey(path))
                .map(path -> files.get(path))
                .findFirst();
    }

    /** How to trust all authors, each listed once. */
    public List<String> advice() {
        return files.values().stream().distinct().toList();
    }
}
