// SPDX-License-Identifier: Apache-2.0
package io.kiln.docs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.TestPrograms;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** The search of the site, which needs no network and no server. */
class SiteSearchTest {
    private static final Pattern HEADING = Pattern.compile("(?m)^#{1,4} .*");

    @TempDir
    private Path folder;

    private JsonNode sections() throws IOException {
        Path file = folder.resolve("js/sections.js");
        SiteSections.main(new String[] {file.toString()});
        String script = Files.readString(file);
        assertThat(script).startsWith("kilnSections([").endsWith("]);\n");
        return new ObjectMapper().readTree(script.substring("kilnSections(".length(), script.length() - 3));
    }

    @Test
    void everyHeadingOfEveryPageIsFound() throws IOException {
        Set<String> listed = new TreeSet<>();
        sections()
                .forEach(section -> listed.add(
                        section.get(0).asText() + " " + words(section.get(3).asText())));
        int headings = 0;
        try (Stream<Path> pages = Files.list(Path.of("src/site/markdown"))) {
            for (Path page :
                    Stream.concat(pages, Stream.of(Path.of("SECURITY.md"))).toList()) {
                String name = page.getFileName().toString().replace(".md", ".html");
                String text = Files.readString(page).replaceAll("(?s)```.*?```", "");
                for (String heading : HEADING.matcher(text)
                        .results()
                        .map(each -> each.group())
                        .toList()) {
                    headings++;
                    assertThat(listed).contains(name + " " + words(heading.replaceAll("\\]\\([^)]*\\)", "")));
                }
            }
        }
        assertThat(headings).isGreaterThan(300);
        assertThat(listed).hasSizeLessThanOrEqualTo(headings);
    }

    private static String words(String text) {
        return text.replaceAll("[^\\p{L}\\p{N}]+", " ").strip();
    }

    @Test
    void textsAreFoundByTheirWords() throws IOException {
        List<String> hits = new ArrayList<>();
        sections().forEach(section -> {
            if (section.get(4).asText().contains("remote_bitbang")) {
                hits.add(section.get(0).asText() + "#" + section.get(1).asText());
            }
        });
        assertThat(hits).contains("flashing.html#CI_without_hardware");
    }

    /** In a browser, from a disk: every heading is where its link leads, and words are answered by links. */
    @Test
    @EnabledIfSystemProperty(named = "kiln.golden", matches = "all")
    void theSiteFindsItsPagesWithoutAServer() throws IOException {
        TestPrograms.need("mvn", "chromium");
        Path site = Path.of("target", "site").toAbsolutePath();
        ProcessResult built = ProcessRunner.run(Command.of(
                        "mvn",
                        "-B",
                        "-q",
                        "-Dmaven.main.skip",
                        "-Dmaven.plugin.skip",
                        "-Djte.skip",
                        "-Dsetup.skip",
                        "-DskipTests",
                        "resources:copy-resources@site-security",
                        "exec:exec@site-sections",
                        "site:site")
                .within(Duration.ofMinutes(10)));
        assertThat(built.exitCode()).as(built.message()).isZero();
        for (JsonNode section : sections()) {
            assertThat(site.resolve(section.get(0).asText()))
                    .content()
                    .as("%s", section.get(3))
                    .contains("id=\"" + section.get(1).asText() + "\"");
        }
        String found = Browser.document(URI.create(site.resolve("index.html").toUri() + "?find=remote_bitbang"));
        assertThat(found).contains("href=\"flashing.html#CI_without_hardware\"", "role=\"status\"");
        assertThat(Browser.document(URI.create(site.resolve("tutorial.html").toUri() + "?find=nosuchword")))
                .contains(">0 sections<");
    }
}
