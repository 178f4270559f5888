// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.artifact;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.farm.link.EngineParts;
import io.kiln.maven.artifact.KnownWeaknesses.Coordinates;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Nothing with a known weakness is shipped with the plugin or fetched by it. */
final class KnownWeaknessesTest {
    private static final KnownWeaknesses TABLE = KnownWeaknesses.read();
    private static final Pattern DEPENDENCY = Pattern.compile("<dependency>\\s*<groupId>([^<]+)</groupId>\\s*"
            + "<artifactId>([^<]+)</artifactId>\\s*<type>jar</type>\\s*<version>([^<]+)</version>");
    private static final Pattern BUNDLE =
            Pattern.compile("groupId: (\\S+)\\s+artifactId: (\\S+)\\s+version: (\\S+)\\s");
    private static final Pattern BOUND = Pattern.compile("(org[a-z.]*):(maven[a-z-]*):([^:\\s]+):");

    /** The plugin's own dependencies as Maven resolved them for its descriptor, and with which versions the tests run. */
    private static Set<String> shipped() throws IOException {
        Set<String> described = found(DEPENDENCY, Path.of("target/classes/META-INF/maven/plugin.xml"));
        Set<String> all = new TreeSet<>(described);
        described.forEach(each -> all.add(onClassPath(each.substring(0, each.lastIndexOf(':')))));
        return all;
    }

    /** An artifact with the version whose jar is on the class path, in the layout of a repository. */
    private static String onClassPath(String artifact) {
        String[] words = artifact.split(":", -1);
        Pattern jar = Pattern.compile(".*/" + Pattern.quote(words[0].replace('.', '/') + "/" + words[1]) + "/([^/]+)/"
                + Pattern.quote(words[1]) + "-\\1\\.jar");
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .map(file -> jar.matcher(file.replace(File.separatorChar, '/')))
                .filter(Matcher::matches)
                .map(matcher -> artifact + ":" + matcher.group(1))
                .findFirst()
                .orElseThrow();
    }

    /** The bundled compiler, the plugins that the lifecycle of a firmware names, the engine of farms. */
    private static Set<String> fetched() throws IOException {
        Set<String> all = found(BUNDLE, Path.of("toolchains/compilers/clang.yaml"));
        all.addAll(found(BOUND, Path.of("src/main/resources/META-INF/plexus/components.xml")));
        all.addAll(EngineParts.ALL);
        return all;
    }

    private static Set<String> found(Pattern pattern, Path file) throws IOException {
        Set<String> all = new TreeSet<>();
        Matcher matcher = pattern.matcher(Files.readString(file));
        matcher.results().map(KnownWeaknessesTest::coordinates).forEach(all::add);
        return all;
    }

    private static String coordinates(MatchResult match) {
        return match.group(1) + ":" + match.group(2) + ":" + match.group(3);
    }

    @Test
    void nothing_that_is_shipped_or_fetched_has_one() throws IOException {
        assertThat(shipped()).hasSizeGreaterThan(15).anyMatch(each -> each.startsWith("org.yaml:snakeyaml:"));
        assertThat(fetched())
                .anyMatch(each -> each.startsWith("org.bytedeco:llvm:"))
                .anyMatch(each -> each.startsWith("org.apache.maven.plugins:maven-install-plugin:"))
                .anyMatch(each -> each.startsWith("org.apache.maven.plugins:maven-deploy-plugin:"))
                .containsAll(EngineParts.ALL);
        List<String> problems = new ArrayList<>();
        for (String each : shipped()) {
            problems.addAll(TABLE.problems(Coordinates.parse(each)));
        }
        for (String each : fetched()) {
            problems.addAll(TABLE.problems(Coordinates.parse(each)));
        }
        assertThat(problems).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "org.apache.activemq:artemis-server:2.40.0, CVE-2026-27446, true",
        "org.apache.activemq:artemis-server:2.44.0, CVE-2026-57967, true",
        "org.apache.artemis:artemis-core-client:2.56.0, CVE-2026-49364, true",
        "org.apache.artemis:artemis-server:2.51.0, CVE-2026-27446, true",
        "org.apache.artemis:artemis-server:2.57.0, CVE-2026-57967, false",
        "io.netty:netty-codec-http:4.1.119.Final, CVE-2025-58056, true",
        "io.netty:netty-handler:4.1.137.Final, CVE-2026-89044, true",
        "io.netty:netty-handler:4.1.138.Final, CVE-2026-89044, false",
        "commons-beanutils:commons-beanutils:1.10.1, CVE-2025-48734, true",
        "commons-beanutils:commons-beanutils:1.11.0, CVE-2025-48734, false",
        "org.apache.commons:commons-lang3:3.17.0, CVE-2025-48924, true",
        "com.google.protobuf:protobuf-java:4.28.1, CVE-2024-7254, true",
        "com.fasterxml.jackson.core:jackson-databind:2.22.1, CVE-2026-68497, true",
        "org.yaml:snakeyaml:1.33, CVE-2022-1471, true"
    })
    void versions_are_told_apart(String coordinates, String id, boolean isAffected) {
        assertThat(TABLE.problems(Coordinates.parse(coordinates)).stream().anyMatch(each -> each.contains(" " + id)))
                .isEqualTo(isAffected);
    }

    @Test
    void what_nobody_has_judged_is_a_problem() {
        assertThat(TABLE.problems(Coordinates.parse("com.example:new:1.0")))
                .singleElement()
                .asString()
                .contains("com.example:new:1.0 is not in known-weaknesses.tsv");
    }

    /** A range that is mistyped would affect nothing. */
    @Test
    void every_range_holds_what_lies_below_its_end() {
        assertThat(TABLE.rows()).isNotEmpty().allSatisfy(row -> {
            if (!row.affected().equals("-")) {
                Matcher begin = Pattern.compile("\\[([^,]*),").matcher(row.affected());
                while (begin.find()) {
                    assertThat(row.affects(begin.group(1).isEmpty() ? "0.1" : begin.group(1)))
                            .as(row.toString())
                            .isTrue();
                }
                assertThat(row.affects(row.fixed().replaceAll(".* ", "")))
                        .as(row.toString())
                        .isFalse();
            }
        });
    }

    @Test
    void the_documents_have_the_day_of_the_last_check() throws IOException {
        assertThat(Files.readString(Path.of("SECURITY.md"))).contains("last compared on " + TABLE.checked());
    }
}
