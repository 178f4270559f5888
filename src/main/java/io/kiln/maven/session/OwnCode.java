// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import io.kiln.flow.spec.CodeSpec;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/** Reads the parameters about the project's own code; Maven leaves those that are not set null. */
public final class OwnCode {
    private OwnCode() {}

    /**
     * The code beside that in {@code src/main/c}.
     *
     * @param folder the project's folder, to which folders are relative
     */
    public static CodeSpec of(
            Path folder, List<String> sources, List<String> includes, List<String> defines, List<String> arguments) {
        return new CodeSpec(folders(folder, sources), folders(folder, includes), words(defines), words(arguments));
    }

    private static List<Path> folders(Path folder, List<String> names) {
        return words(names).stream().map(folder::resolve).toList();
    }

    private static List<String> words(List<String> given) {
        return given == null
                ? List.of()
                : given.stream()
                        .filter(Objects::nonNull)
                        .map(String::strip)
                        .filter(word -> !word.isEmpty())
                        .toList();
    }
}
