// SPDX-License-Identifier: Apache-2.0
package io.kiln;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Imports of sources form no circles. {@link ArchitectureTest} sees class files only, and these lack the imports of
 * Javadoc, by which a reader goes round in circles as well.
 */
final class ImportsTest {
    private static final Path ROOT = Path.of("src", "main", "java");
    /** Templates have no sources here. */
    private static final Pattern IMPORT =
            Pattern.compile("(?m)^import (?:static )?(io\\.kiln\\.(?!kernels\\.|pages\\.)[\\w.]+);");

    /** Each class of a file with the classes whose files it imports. */
    private static final Map<String, Set<String>> IMPORTS = new HashMap<>();

    @BeforeAll
    static void read() throws IOException {
        Map<String, String> sources = new HashMap<>();
        try (Stream<Path> files = Files.walk(ROOT)) {
            for (Path file : (Iterable<Path>) files.filter(f -> f.toString().endsWith(".java"))::iterator) {
                String path = ROOT.relativize(file)
                        .toString()
                        .replace(file.getFileSystem().getSeparator(), ".");
                sources.put(path.substring(0, path.length() - ".java".length()), Files.readString(file));
            }
        }
        sources.forEach((name, text) -> IMPORTS.put(name, new HashSet<>()));
        sources.forEach((name, text) -> {
            Matcher matcher = IMPORT.matcher(text);
            while (matcher.find()) {
                IMPORTS.get(name).add(fileOf(matcher.group(1)));
            }
            // Of types nested in a nested type.
            IMPORTS.get(name).remove(name);
        });
    }

    /** The class of the file that declares a member or a nested class. */
    private static String fileOf(String imported) {
        String name = imported;
        while (!IMPORTS.containsKey(name)) {
            assertThat(name).as("file of %s", imported).contains(".");
            name = packageOf(name);
        }
        return name;
    }

    private static String packageOf(String name) {
        return name.substring(0, name.lastIndexOf('.'));
    }

    @Test
    void filesImportInNoCircle() {
        assertThat(IMPORTS).hasSizeGreaterThan(1000);
        assertThat(circles(IMPORTS)).isEmpty();
    }

    @Test
    void packagesImportInNoCircle() {
        Map<String, Set<String>> packages = new HashMap<>();
        IMPORTS.forEach((name, imports) -> {
            Set<String> others = packages.computeIfAbsent(packageOf(name), absent -> new HashSet<>());
            imports.stream().map(ImportsTest::packageOf).forEach(others::add);
            others.remove(packageOf(name));
        });
        assertThat(packages).hasSizeGreaterThan(100);
        assertThat(circles(packages)).isEmpty();
    }

    @Test
    void circlesAreFound() {
        assertThat(circles(Map.of("a", Set.of("b"), "b", Set.of("c"), "c", Set.of("b"), "d", Set.of())))
                .containsOnlyKeys("a", "b", "c");
    }

    /** What is in a circle or leads into one: the rest after all that leads nowhere is taken away, again and again. */
    private static Map<String, Set<String>> circles(Map<String, Set<String>> graph) {
        Map<String, Set<String>> rest = new HashMap<>(graph);
        boolean smaller = true;
        while (smaller) {
            smaller = rest.entrySet().removeIf(each -> each.getValue().stream().noneMatch(rest::containsKey));
        }
        return rest;
    }
}
