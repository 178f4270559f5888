// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/** Reads parameters that are lists; Maven leaves those that are not set null. */
public final class GivenWords {
    private GivenWords() {}

    /**
     * Folders by their names.
     *
     * @param folder the project's folder, to which names are relative
     */
    public static List<Path> folders(Path folder, List<String> names) {
        return of(names).stream().map(folder::resolve).toList();
    }

    /** The words that are not blank. */
    public static List<String> of(List<String> given) {
        return given == null
                ? List.of()
                : given.stream()
                        .filter(Objects::nonNull)
                        .map(String::strip)
                        .filter(word -> !word.isEmpty())
                        .toList();
    }
}
