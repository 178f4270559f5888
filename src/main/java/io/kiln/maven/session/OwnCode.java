// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/** Reads the parameters about the project's own code; Maven leaves those that are not set null. */
public final class OwnCode {
    private OwnCode() {}

    /**
     * Folders by their names.
     *
     * @param folder the project's folder, to which names are relative
     */
    public static List<Path> folders(Path folder, List<String> names) {
        return words(names).stream().map(folder::resolve).toList();
    }

    /** Words that are not blank. */
    public static List<String> words(List<String> given) {
        return given == null
                ? List.of()
                : given.stream()
                        .filter(Objects::nonNull)
                        .map(String::strip)
                        .filter(word -> !word.isEmpty())
                        .toList();
    }
}
