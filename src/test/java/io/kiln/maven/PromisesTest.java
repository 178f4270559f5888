// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.AnnotatedElement;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.platform.commons.annotation.Testable;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * The page {@code promises.md} has every sentence of the security policy and of <i>What to expect</i>, as it is there, with the tests that hold
 * it, or with the reason why there is none.
 */
final class PromisesTest {
    private static final Path PAGE = Path.of("src", "site", "markdown", "promises.md");
    private static final Path TESTS = Path.of("src", "test", "java");
    private static final String NONE = "not testable: ";
    private static final Pattern SENTENCE_END = Pattern.compile("(?<=[.?!]) (?=[A-Z`*(])");
    private static final Pattern LINK = Pattern.compile("\\[([^\\]]*)\\]\\([^)]*\\)");
    private static final Pattern TEST = Pattern.compile("`(\\w+)#(\\w+)`");
    private static final Pattern SCENARIO = Pattern.compile("`(src/it/[a-z-]+)`");

    @Test
    void everySentenceIsOnThePageAsItIs() throws IOException {
        List<String> sentences = new ArrayList<>(sentences(Files.readString(Path.of("SECURITY.md"))));
        String index = Files.readString(Path.of("src", "site", "markdown", "index.md"));
        sentences.addAll(sentences(index.substring(index.indexOf("## What to expect"))));

        assertThat(sentences).hasSizeGreaterThan(150).doesNotHaveDuplicates();
        assertThat(List.copyOf(rows().keySet()))
                .as("the sentences on %s; a new or changed one needs a row with its tests", PAGE)
                .isEqualTo(sentences);
    }

    @Test
    void everyTestOnThePageExistsAndEveryOtherSentenceHasAReason() throws IOException {
        Map<String, List<Path>> sources;
        try (Stream<Path> files = Files.walk(TESTS)) {
            sources = files.filter(file -> file.toString().endsWith("Test.java"))
                    .collect(Collectors.groupingBy(
                            file -> file.getFileName().toString().replace(".java", "")));
        }
        List<String> wrong = new ArrayList<>();
        rows().forEach((sentence, held) -> {
            if (held.startsWith(NONE)) {
                if (held.length() < NONE.length() + 10) {
                    wrong.add("no reason: " + sentence);
                }
                return;
            }
            for (String name : held.split(", ", -1)) {
                if (!exists(name, sources)) {
                    wrong.add(name + " is no test and no scenario: " + sentence);
                }
            }
        });
        assertThat(wrong).isEmpty();
    }

    /** Paragraphs and items become sentences; a row of a table is one: its first cell, a colon, and the others. */
    private static List<String> sentences(String text) {
        List<String> sentences = new ArrayList<>();
        StringBuilder paragraph = new StringBuilder();
        List<String> lines = Stream.concat(text.lines(), Stream.of("")).toList();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            boolean isRow = line.startsWith("|");
            if (line.isBlank() || isRow || line.startsWith("* ") || line.startsWith("#") || line.startsWith("<a ")) {
                String whole = LINK.matcher(paragraph.toString().strip())
                        .replaceAll("$1")
                        .replaceAll("\\s+", " ");
                SENTENCE_END
                        .splitAsStream(whole)
                        .filter(sentence -> !sentence.isEmpty())
                        .forEach(sentences::add);
                paragraph.setLength(0);
            }
            if (isRow) {
                boolean isHead = lines.get(i + 1).startsWith("|-") || line.startsWith("|-");
                if (!isHead) {
                    List<String> cells = cells(LINK.matcher(line).replaceAll("$1"));
                    sentences.add(cells.get(0) + ": " + String.join("; ", cells.subList(1, cells.size())));
                }
            } else if (!line.startsWith("#") && !line.startsWith("<a ")) {
                paragraph
                        .append(line.startsWith("* ") ? line.substring(2) : line)
                        .append(' ');
            }
        }
        return sentences;
    }

    private static List<String> cells(String row) {
        return Arrays.stream(row.strip().substring(1).split("\\|"))
                .map(String::strip)
                .toList();
    }

    /** Each sentence of the page's tables with what holds it. */
    private static Map<String, String> rows() throws IOException {
        Map<String, String> rows = new LinkedHashMap<>();
        for (String line : Files.readAllLines(PAGE)) {
            if (line.startsWith("| ") && !line.equals("| sentence | held by |")) {
                List<String> cells = cells(line);
                assertThat(cells).as(line).hasSize(2);
                assertThat(rows.put(cells.get(0), cells.get(1)))
                        .as("twice: " + line)
                        .isNull();
            }
        }
        return rows;
    }

    private static boolean exists(String name, Map<String, List<Path>> sources) {
        Matcher scenario = SCENARIO.matcher(name);
        if (scenario.matches()) {
            return Files.isDirectory(Path.of(scenario.group(1)));
        }
        Matcher test = TEST.matcher(name);
        return test.matches()
                && sources.getOrDefault(test.group(1), List.of()).stream()
                        .flatMap(source -> members(source, test.group(2)))
                        .anyMatch(member -> AnnotationSupport.isAnnotated(member, Testable.class));
    }

    /** Methods and fields (rules of ArchUnit) of that name. */
    private static Stream<AnnotatedElement> members(Path source, String name) {
        String type = TESTS.relativize(source).toString().replace(".java", "").replaceAll("[/\\\\]", ".");
        try {
            Class<?> found = Class.forName(type, false, PromisesTest.class.getClassLoader());
            return Stream.concat(
                    Arrays.stream(found.getDeclaredMethods())
                            .filter(method -> method.getName().equals(name)),
                    Arrays.stream(found.getDeclaredFields())
                            .filter(field -> field.getName().equals(name)));
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException("test classes are compiled before tests run", e);
        }
    }
}
