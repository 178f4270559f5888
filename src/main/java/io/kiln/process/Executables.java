// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Looks for executables, as a shell would. */
public final class Executables {
    private static final List<String> SUFFIXES =
            System.getProperty("os.name", "").startsWith("Windows") ? List.of(".exe", "") : List.of("");

    private Executables() {}

    /** The first executable of this name on the PATH. */
    public static Optional<Path> find(String name) {
        return folders().stream()
                .flatMap(folder -> folder(folder).stream())
                .flatMap(folder -> findIn(folder, name).stream())
                .findFirst();
    }

    /** An executable of this name in one folder. */
    public static Optional<Path> findIn(Path folder, String name) {
        return SUFFIXES.stream()
                .map(suffix -> folder.resolve(name + suffix))
                .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
                .findFirst();
    }

    /** Where {@link #find} looks for an executable, as far as to the one that it finds; the others need not exist. */
    public static List<Path> places(String name) {
        Optional<Path> found = find(name);
        List<Path> places = new ArrayList<>();
        for (String text : folders()) {
            for (String suffix : SUFFIXES) {
                folder(text).map(folder -> folder.resolve(name + suffix)).ifPresent(places::add);
                if (found.isPresent() && places.contains(found.get())) {
                    return places;
                }
            }
        }
        return places;
    }

    private static List<String> folders() {
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
        return Stream.of(path.split(Pattern.quote(File.pathSeparator)))
                .filter(folder -> !folder.isBlank())
                .toList();
    }

    private static Optional<Path> folder(String text) {
        try {
            return Optional.of(Path.of(text));
        } catch (InvalidPathException e) {
            return Optional.empty();
        }
    }
}
