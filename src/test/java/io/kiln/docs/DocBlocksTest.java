// SPDX-License-Identifier: Apache-2.0
package io.kiln.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.maven.name.DocumentedNamesTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Every block that readers may copy is tried or checked, or says why not. */
class DocBlocksTest {
    /** The test that checks all blocks of a language that say nothing else. */
    private static final Map<String, Class<?>> CHECKS = Map.of(
            "sh", DocumentedNamesTest.class,
            "xml", DocumentedNamesTest.class,
            "yaml", YamlBlocksTest.class,
            "c", CBlocksTest.class,
            "java", JavaBlocksTest.class,
            "python", PythonBlocksTest.class,
            "dockerfile", DockerfileTest.class,
            "json", YamlBlocksTest.class);

    /** This number may only fall. */
    private static final int MOST_NOT_TRIED = 0;

    /** Commands that need a board, a program of others or the night; this number may only fall. */
    private static final int MOST_NOT_RUN = 39;

    private static final Pattern COMMAND =
            Pattern.compile("^(\\$ )?(mvn|make|cmake|sh|keytool|openssl|apt-get|tvmc|vela|git|cd) ");

    private static final Pattern TEST = Pattern.compile("\\b[A-Z]\\w*Test\\b|\\bsrc/it/[a-z-]+");

    @Test
    void everyLanguageHasACheck() {
        assertThat(DocBlock.of())
                .hasSizeGreaterThan(100)
                .allSatisfy(block -> assertThat(block.language().isEmpty()
                                || block.key().equals("tried by")
                                || CHECKS.containsKey(block.language()))
                        .as(block.where() + " " + block.language())
                        .isTrue());
    }

    @Test
    void fewAreNotTriedAndEachSaysWhy() {
        List<DocBlock> left = DocBlock.of().stream()
                .filter(block -> block.key().equals("not tried"))
                .toList();
        assertThat(left)
                .hasSizeLessThanOrEqualTo(MOST_NOT_TRIED)
                .allSatisfy(block -> assertThat(block.note()).as(block.where()).hasSizeGreaterThan(20));
    }

    /** {@link ShellBlocksTest} runs all other commands. */
    @Test
    void commandsThatAreNotRunSayWhyAndWhatRunsInstead() throws IOException {
        List<DocBlock> left = DocBlock.of().stream()
                .filter(block -> block.key().equals("not run"))
                .toList();
        assertThat(left).hasSizeLessThanOrEqualTo(MOST_NOT_RUN).allSatisfy(block -> {
            assertThat(block.language()).as(block.where()).isEqualTo("sh");
            assertThat(block.note()).as(block.where()).hasSizeGreaterThan(20);
        });
        Set<String> there = new TreeSet<>();
        try (Stream<Path> tests = Files.walk(Path.of("src/test/java"))) {
            tests.forEach(file -> there.add(file.getFileName().toString().replace(".java", "")));
        }
        assertThat(left.stream()
                        .flatMap(block -> TEST.matcher(block.note()).results())
                        .map(MatchResult::group))
                .hasSizeGreaterThan(8)
                .allMatch(name -> name.startsWith("src/it/") ? Files.isDirectory(Path.of(name)) : there.contains(name));
    }

    /** A command among its output would be neither checked nor run. */
    @Test
    void commandsStandInBlocksOfTheShell() {
        assertThat(DocBlock.of().stream()
                        .filter(block -> block.language().isEmpty())
                        .filter(block -> block.text()
                                .lines()
                                .anyMatch(line -> COMMAND.matcher(line).find()))
                        .map(DocBlock::where))
                .isEmpty();
    }

    /** Who is said to try a block exists and has its text, or reads its page. */
    @Test
    void whatTriesABlockExists() throws IOException {
        for (DocBlock block : DocBlock.of()) {
            if (block.key().equals("tried by")) {
                assertThat(isTriedBy(block))
                        .as(block.where() + ": " + block.note())
                        .isTrue();
            }
        }
    }

    private static boolean isTriedBy(DocBlock block) throws IOException {
        if (block.note().startsWith("src/it/")) {
            String wanted = flat(block.text());
            try (Stream<Path> files = Files.walk(Path.of(block.note()))) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    if (flat(Files.readString(file, java.nio.charset.StandardCharsets.ISO_8859_1))
                            .contains(wanted)) {
                        return true;
                    }
                }
            }
            return false;
        }
        try (Stream<Path> tests = Files.walk(Path.of("src/test/java"))) {
            Path test = tests.filter(file -> file.endsWith(block.note() + ".java"))
                    .findFirst()
                    .orElseThrow();
            return Files.readString(test).contains(block.page());
        }
    }

    private static String flat(String text) {
        return text.replaceAll("\\s+", " ").strip();
    }
}
