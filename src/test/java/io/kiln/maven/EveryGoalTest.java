// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.maven.plugin.Mojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.junit.jupiter.api.Test;

/** Whatever fails in a goal leaves it by one door, as one message with what to do. */
final class EveryGoalTest {
    private static final Path SOURCES = Path.of("src", "main", "java");

    /** Maven injects nothing here, so that each goal meets a null pointer: a bug as good as any. */
    @Test
    void aBugSaysSoAndWhereToReportIt() throws Exception {
        List<Class<?>> goals = goals();
        assertThat(goals).hasSizeGreaterThan(15);
        for (Class<?> goal : goals) {
            Mojo mojo = (Mojo) goal.getDeclaredConstructor().newInstance();
            assertThatThrownBy(mojo::execute)
                    .as(goal.getSimpleName())
                    .isInstanceOf(MojoExecutionException.class)
                    .hasMessageStartingWith("this is a bug in Kiln ")
                    .hasMessageContaining("NullPointerException")
                    .hasMessageContaining("Report it to the authors of io.kiln:kiln-maven-plugin")
                    .hasNoCause()
                    .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
        }
    }

    /** Every class that declares a goal in its source. */
    private static List<Class<?>> goals() throws IOException {
        try (Stream<Path> files = Files.walk(SOURCES.resolve("io/kiln/maven"))) {
            return files.filter(EveryGoalTest::declaresGoal)
                    .sorted()
                    .<Class<?>>map(EveryGoalTest::type)
                    .toList();
        }
    }

    private static boolean declaresGoal(Path file) {
        try {
            return file.toString().endsWith(".java")
                    && Files.readString(file).lines().anyMatch(line -> line.startsWith("@Mojo("));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static Class<?> type(Path file) {
        String name = SOURCES.relativize(file).toString().replace(".java", "").replaceAll("[/\\\\]", ".");
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }
}
