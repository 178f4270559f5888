// SPDX-License-Identifier: Apache-2.0
package io.kiln;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.junit.ArchTest;
import io.kiln.ir.op.Op;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Files, methods, parameter lists and records of the plugin stay small. {@link ArchitectureTest}, which has read all classes, runs those tests that look at them. */
final class HouseSizeTest {
    private static final int MOST_LINES = 600;
    private static final int MOST_LINES_OF_A_METHOD = 60;
    private static final int MOST_PARAMETERS = 7;
    private static final int SMALL_CLASS = 40;
    private static final Pattern WORD = Pattern.compile("\\W+");
    private static final int MOST_OWN_CLASSES = 3;

    @ArchTest
    static void parameterListsAreShort(JavaClasses classes) {
        List<String> tooMany = classes.stream()
                .filter(type -> !isData(type))
                .flatMap(type -> type.getCodeUnits().stream())
                .filter(code -> !code.getModifiers().contains(JavaModifier.SYNTHETIC))
                .filter(code -> code.getRawParameterTypes().size() > MOST_PARAMETERS)
                .map(code -> code.getFullName())
                .toList();
        assertThat(tooMany).isEmpty();
    }

    /** Records whose components are names of a format, of a report's JSON or of an operator's attributes, and templates, which are called by name. */
    private static boolean isData(JavaClass type) {
        if (ArchitectureTest.isTemplate(type)) {
            return true;
        }
        return type.isRecord() && (type.getPackageName().startsWith("io.kiln.report") || type.isAssignableTo(Op.class));
    }

    /** Whoever reads a class has to read those that it extends; those of libraries are known. */
    @ArchTest
    static void inheritanceIsShallow(JavaClasses classes) {
        List<String> tooDeep = classes.stream()
                .filter(type -> own(type) > MOST_OWN_CLASSES)
                .map(JavaClass::getName)
                .toList();
        assertThat(tooDeep).isEmpty();
    }

    /** How many classes of Kiln a class is made of: itself, and those that it extends. */
    private static long own(JavaClass type) {
        return Stream.concat(Stream.of(type), type.getAllRawSuperclasses().stream())
                .filter(each -> each.getPackageName().startsWith("io.kiln"))
                .count();
    }

    @Test
    void filesAreShort() throws IOException {
        Map<Path, Long> tooLong = new TreeMap<>();
        for (Path file : sources("java", "c", "h", "S")) {
            try (Stream<String> lines = Files.lines(file)) {
                tooLong.put(file, lines.count());
            }
        }
        assertThat(tooLong).hasSizeGreaterThan(1000);
        tooLong.values().removeIf(lines -> lines <= MOST_LINES);
        assertThat(tooLong).isEmpty();
    }

    @Test
    void methodsAreShort() throws IOException {
        Map<String, Long> tooLong = MethodLengths.of(sources("java"));
        assertThat(tooLong).hasSizeGreaterThan(10_000);
        tooLong.values().removeIf(lines -> lines <= MOST_LINES_OF_A_METHOD);
        assertThat(tooLong).isEmpty();
    }

    /** A class under 40 lines that one class of its package uses stands in that class. Passes have files of their own, as the pipeline lists them. */
    @Test
    void smallClassesStandInTheirOnlyUser() throws IOException {
        Map<Path, Set<String>> words = new TreeMap<>();
        for (Path file : sources("java")) {
            if (file.startsWith(Path.of("src/main/java"))) {
                words.put(file, WORD.splitAsStream(Files.readString(file)).collect(Collectors.toSet()));
            }
        }
        List<Path> alone = new ArrayList<>();
        for (Map.Entry<Path, Set<String>> each : words.entrySet()) {
            Path file = each.getKey();
            if (each.getValue().contains("Pass") || Files.readAllLines(file).size() >= SMALL_CLASS) {
                continue;
            }
            String name = file.getFileName().toString().replace(".java", "");
            List<Path> users = words.entrySet().stream()
                    .filter(user -> user.getValue().contains(name))
                    .map(Map.Entry::getKey)
                    .filter(user -> !user.equals(file))
                    .toList();
            if (users.size() == 1
                    && file.resolveSibling(users.get(0).getFileName()).equals(users.get(0))) {
                alone.add(file);
            }
        }
        assertThat(words).hasSizeGreaterThan(1000);
        assertThat(alone).isEmpty();
    }

    /** The glossary's table "We say … not …" holds for the words of names of classes and of sheets. */
    @ArchTest
    static void classesTakeTheWordsOfTheGlossary(JavaClasses classes) throws IOException {
        String page = Files.readString(Path.of("src/site/markdown/glossary.md"));
        Set<String> avoided = page.substring(page.indexOf("## We say"))
                .lines()
                .filter(line -> line.startsWith("| ") && !line.startsWith("| we say"))
                .map(line -> line.split("\\|", -1)[2])
                .flatMap(words -> WORD.splitAsStream(words.strip()))
                .collect(Collectors.toSet());
        assertThat(avoided).contains("rescale").hasSizeGreaterThan(6);
        List<String> named = classes.stream()
                .filter(type -> words(type).anyMatch(word -> avoided.contains(word.toLowerCase(Locale.ROOT))))
                .map(JavaClass::getName)
                .toList();
        assertThat(named).isEmpty();
    }

    /** The words of a name; a template's is {@code Jte<its file>Generated}. */
    private static Stream<String> words(JavaClass type) {
        String separator = ArchitectureTest.isTemplate(type) ? "^Jte|Generated$|_" : "(?=[A-Z])";
        return Stream.of(type.getSimpleName().split(separator, -1));
    }

    /** The files that people write; golden C below the tests' resources is the generator's. */
    private static List<Path> sources(String... endings) throws IOException {
        try (Stream<Path> walk = Files.walk(Path.of("src"))) {
            return walk.filter(file -> !file.startsWith(Path.of("src/test/resources")))
                    .filter(file -> Stream.of(endings)
                            .anyMatch(ending -> file.toString().endsWith("." + ending)))
                    .toList();
        }
    }
}
