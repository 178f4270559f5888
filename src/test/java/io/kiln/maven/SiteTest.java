// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The README and the pages of the site lead to each other. */
final class SiteTest {
    private static final Path PAGES = Path.of("src/site/markdown");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s#]*)(#[^)\\s]*)?\\)");
    private static final Pattern YAML = Pattern.compile("```yaml\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern CODE = Pattern.compile("```.*?```|`[^`]*`", Pattern.DOTALL);
    private static final Pattern TAG = Pattern.compile("<(?!a id=\"|/a>)[A-Za-z/][^>]*>");
    /** A class of two words or more, a file in a folder, or a package, in code of its own. */
    private static final Pattern NAME =
            Pattern.compile("`([A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[\\w/-]+/[\\w-]+\\.[a-z]+|io\\.kiln(?:\\.\\w+)+)`");

    /** Names on the pages about Kiln's own sources that are not Kiln's. */
    private static final List<String> OF_OTHERS = List.of("MatMulNBits", "target/release-bundle.zip");

    /** Pages that are made while the site is built. */
    private static final List<String> GENERATED = List.of("plugin-info.html", "SECURITY.html");

    @Test
    void everyLinkLeadsToAFileAndItsAnchor() throws IOException {
        List<String> broken = new ArrayList<>();
        int links = 0;
        for (Path page : pages()) {
            Matcher link = LINK.matcher(Files.readString(page));
            while (link.find()) {
                links++;
                if (!leadsSomewhere(page, link.group(1), link.group(2) == null ? "" : link.group(2))) {
                    broken.add(page + ": " + link.group());
                }
            }
        }
        assertThat(broken).isEmpty();
        assertThat(links).isGreaterThan(40);
    }

    /** Workflows that people copy are YAML. */
    @Test
    void everyExampleInYamlCanBeRead() throws IOException {
        int examples = 0;
        for (Path page : pages()) {
            Matcher example = YAML.matcher(Files.readString(page));
            while (example.find()) {
                examples++;
                assertThat(new YAMLMapper().readTree(example.group(1)).isContainerNode())
                        .as("%s: %s", page, example.group(1))
                        .isTrue();
            }
        }
        assertThat(examples).isGreaterThan(4);
    }

    /** The site is not built from pages with tags that HTML does not have, such as a placeholder in angle brackets. */
    @Test
    void anglesAreInCodeOnly() throws IOException {
        List<Path> pages = new ArrayList<>(pages());
        pages.add(Path.of("SECURITY.md"));
        for (Path page : pages) {
            String text = CODE.matcher(Files.readString(page)).replaceAll("");
            assertThat(TAG.matcher(text).results()).as("%s", page).isEmpty();
        }
    }

    @Test
    void theMenuHasEveryPage() throws IOException {
        String menu = Files.readString(Path.of("src/site/site.xml"));
        for (Path page : pages()) {
            if (page.startsWith(PAGES)) {
                String name = page.getFileName().toString().replace(".md", ".html");
                assertThat(menu).contains("href=\"" + name + "\"");
            }
        }
    }

    /** A package that the picture of the house lacks is one that nobody finds. */
    @Test
    void thePictureOfTheHouseHasEveryPackage() throws IOException {
        String picture = Files.readString(Path.of("src/site/resources/images/house.svg"));
        try (Stream<Path> packages = Files.list(Path.of("src/main/java/io/kiln"))) {
            assertThat(packages.map(path -> path.getFileName().toString()))
                    .isNotEmpty()
                    .allSatisfy(name -> assertThat(picture).containsPattern(">" + name + "[<:]"));
        }
    }

    /** Whoever works on Kiln finds each class, file and package that the pages about its sources name. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "house",
                "contributing",
                "add-an-operator",
                "add-a-core",
                "debug-a-kernel",
                "glossary",
                "kernel-measurements"
            })
    void whatPagesNameOfTheSourcesIsThere(String page) throws IOException {
        Set<String> files = new HashSet<>();
        for (String root :
                List.of("src/main/java/io/kiln", "src/test/java/io/kiln", "src/main/resources", "src/test/resources")) {
            try (Stream<Path> walk = Files.walk(Path.of(root))) {
                walk.map(path -> path.toString().replace('\\', '/')).forEach(files::add);
            }
        }
        List<String> names = NAME.matcher(Files.readString(PAGES.resolve(page + ".md")))
                .results()
                .map(name -> name.group(1))
                .filter(name -> !OF_OTHERS.contains(name))
                .toList();
        assertThat(names).isNotEmpty().allSatisfy(name -> {
            String path = name.startsWith("io.kiln.") ? name.replace('.', '/') : name;
            assertThat(files.stream().anyMatch(file -> isNamed(file, path)) || Files.exists(Path.of(path)))
                    .as(name)
                    .isTrue();
        });
    }

    private static boolean isNamed(String file, String name) {
        return file.endsWith("/" + name) || file.endsWith("/" + name + ".java");
    }

    private static boolean leadsSomewhere(Path page, String file, String anchor) throws IOException {
        if (GENERATED.contains(file) || file.startsWith("https:")) {
            return true;
        }
        Path folder = page.toAbsolutePath().getParent();
        Path target =
                file.isEmpty() ? page.toAbsolutePath() : folder.resolve(file).normalize();
        if (Stream.of("images/", "farm/", "example/").anyMatch(file::startsWith)) {
            return Files.exists(Path.of("src/site/resources").resolve(file));
        }
        return Files.exists(target)
                && (anchor.isEmpty()
                        || Files.readString(target).contains("<a id=\"" + anchor.substring(1) + "\"></a>"));
    }

    private static List<Path> pages() throws IOException {
        try (Stream<Path> files = Files.list(PAGES)) {
            List<Path> pages = new ArrayList<>(files.toList());
            pages.add(Path.of("README.md"));
            return pages;
        }
    }
}
