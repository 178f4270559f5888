// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What {@code kiln:help} and {@code help:describe} print is the Javadoc of goals and parameters. */
final class GoalDescriptionsTest {
    private static final Pattern JAVADOC =
            Pattern.compile("/\\*\\*(.*?)\\*/\\s*@(?:Mojo|Parameter)\\b", Pattern.DOTALL);

    /** Both take words in angle brackets for markup and drop them, even in {@code @code}. */
    @Test
    void noWordOfADescriptionGetsLost() throws IOException {
        int descriptions = 0;
        for (Path source : mojos()) {
            Matcher javadoc = JAVADOC.matcher(Files.readString(source));
            while (javadoc.find()) {
                descriptions++;
                String text = javadoc.group(1);
                assertThat(text.substring(text.lastIndexOf("/**") + 1))
                        .as("%s: write placeholders in capitals and elements without brackets", source)
                        .doesNotContainPattern("<[A-Za-z/]|&[a-z]+;|\\{@link");
            }
        }
        assertThat(descriptions).isGreaterThan(60);
    }

    private static List<Path> mojos() throws IOException {
        try (Stream<Path> sources = Files.walk(Path.of("src/main/java/io/kiln/maven"))) {
            return sources.filter(file -> file.toString().endsWith("Mojo.java")).toList();
        }
    }
}
