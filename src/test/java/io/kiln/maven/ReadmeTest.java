// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The README and the site say what the project does. */
final class ReadmeTest {
    @Test
    void itIsShort() throws IOException {
        assertThat(readme().lines().count()).isLessThanOrEqualTo(120);
    }

    /** Numbers of its table stand in the page Measurements, which says how they were measured. */
    @Test
    void itsFiguresAreThoseOfThePageMeasurements() throws IOException {
        String page = Files.readString(Path.of("src/site/markdown/measurements.md"));
        List<String> rows = readme().lines()
                .filter(line -> line.matches("\\|.*\\([a-zA-Z0-9_]+\\) \\|.*"))
                .toList();
        assertThat(rows).hasSize(5);
        for (String row : rows) {
            assertThat(Pattern.compile("(?<=\\| )[0-9][0-9.,]*(?= \\|)")
                            .matcher(row)
                            .results()
                            .map(figure -> "| " + figure.group() + " |"))
                    .hasSizeGreaterThan(3)
                    .allSatisfy(figure -> assertThat(page).contains(figure));
        }
    }

    @Test
    void itsExampleIsTheQuickstart() throws IOException {
        Matcher block = Pattern.compile("```xml\n(<project.*?</project>\n)```", Pattern.DOTALL)
                .matcher(readme());
        assertThat(block.find()).isTrue();
        String quickstart = Files.readString(Path.of("src/it/quickstart/pom.xml"));
        assertThat(block.group(1))
                .isEqualTo(quickstart
                        .substring(quickstart.indexOf("<project"))
                        .replace("@project.version@", "0.1.0-SNAPSHOT"));
    }

    @Test
    void theSecurityPolicyNamesEveryGoal() throws IOException {
        String policy = Files.readString(Path.of("SECURITY.md"));
        assertThat(named())
                .filteredOn(name -> name.startsWith("kiln:"))
                .allSatisfy(goal -> assertThat(policy).contains("`" + goal + "`"));
    }

    @Test
    void thePageOfGoalsNamesEveryGoalAndEveryProperty() throws IOException {
        String page = Files.readString(Path.of("src/site/markdown/goals.md"));
        assertThat(named()).allSatisfy(name -> assertThat(page).contains(name));
    }

    @Test
    void theSetUpRunsRightBeforeTheTestsAndNowhereElse() throws IOException {
        String pom = Files.readString(Path.of("pom.xml"));
        String setUp = pom.substring(pom.indexOf("<id>set-up</id>"));
        setUp = setUp.substring(0, setUp.indexOf("</execution>"));

        assertThat(pom.split("src/setup/setup\\.sh", -1)).hasSize(2);
        assertThat(setUp)
                .contains("src/setup/setup.sh")
                .contains("<phase>process-test-classes</phase>")
                .contains("<skip>${setup.skip}</skip>");
        for (String profile : new String[] {"skip-tests", "maven-test-skip"}) {
            String without = pom.substring(pom.indexOf("<id>" + profile + "</id>"));
            assertThat(without.substring(0, without.indexOf("</profile>"))).contains("<setup.skip>true</setup.skip>");
        }
    }

    /** Every goal and every property. */
    private static Set<String> named() throws IOException {
        Set<String> named = new TreeSet<>();
        try (Stream<Path> sources = Files.walk(Path.of("src/main/java/io/kiln/maven"))) {
            for (Path source : sources.filter(Files::isRegularFile).toList()) {
                Matcher names = Pattern.compile("property = \"(kiln\\.[A-Za-z.-]+)\"|@Mojo\\(name = \"([a-z-]+)\"")
                        .matcher(Files.readString(source));
                while (names.find()) {
                    named.add(names.group(1) == null ? "kiln:" + names.group(2) : names.group(1));
                }
            }
        }
        named.removeIf(name -> name.matches("kiln\\.[a-z-]+\\.skip"));
        assertThat(named).hasSizeGreaterThan(20);
        return named;
    }

    private static String readme() throws IOException {
        return Files.readString(Path.of("README.md"));
    }
}
