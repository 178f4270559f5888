// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page "When Kiln fails" has a section for every family of failures, and for nothing else. */
class FailuresPageTest {
    private static final Path PAGE = Path.of("src/site/markdown/failures.md");
    private static final Pattern SECTION = Pattern.compile("(?m)^### (.+)\\n\\n\\*\\*([^*]+)\\.\\*\\*");

    @Test
    void everyIdHasItsSectionAndEverySectionItsId() throws IOException {
        Map<String, String> titles = Stream.of(Failure.values())
                .collect(Collectors.toMap(Failure::id, Failure::title, (a, b) -> a, LinkedHashMap::new));
        String page = Files.readString(PAGE);
        Map<String, String> sections = new LinkedHashMap<>();
        SECTION.matcher(page)
                .results()
                .forEach(section ->
                        sections.put(section.group(1), section.group(2).replace('\n', ' ')));

        assertThat(sections).containsExactlyInAnyOrderEntriesOf(titles);
        assertThat(page.lines().filter(line -> line.startsWith("### "))).hasSameSizeAs(sections.keySet());
    }

    /** A family that nothing belongs to would be a section about nothing. */
    @Test
    void everyFamilyHasAProblem() throws IOException {
        TreeSet<String> unused =
                Stream.of(Failure.values()).map(Failure::name).collect(Collectors.toCollection(TreeSet::new));
        Pattern use = Pattern.compile("\\bFailure\\.([A-Z]+)\\b");
        try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".java")).toList()) {
                use.matcher(Files.readString(file)).results().forEach(found -> unused.remove(found.group(1)));
            }
        }
        assertThat(unused).isEmpty();
    }
}
