// SPDX-License-Identifier: Apache-2.0
package io.kiln.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Digests;
import io.kiln.base.KeptLog;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.process.TestPrograms;
import io.kiln.report.page.Page;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the site shows of the example model is what a build of it makes: the page about the build, and two pictures of that page by themselves. With
 * {@code -Dkiln.site.write=true} they are written anew, and with them a picture of the beginning of
 * the page, which Chromium takes.
 */
class SiteExampleTest {
    private static final Path SITE = Path.of("src", "site", "resources");
    private static final Path PAGE = SITE.resolve("example/report.html");
    private static final Path PICTURE = SITE.resolve("images/report.png");
    /** Of which page the picture was taken. */
    private static final Path PICTURED = SITE.resolve("images/report.png.sha256");

    private static final Pattern SVG = Pattern.compile(
            "<svg (?:class=\"(\\w+)\" )?xmlns=\"\\S+\" width=\"(\\d+)\" height=\"(\\d+)\".*?>(.*?)</svg>",
            Pattern.DOTALL);

    @TempDir
    private Path folder;

    /** Thirty images are measured, which takes half a minute. */
    @Test
    @EnabledIfSystemProperty(named = "kiln.golden", matches = "all")
    void theExampleIsWhatABuildMakes() throws IOException {
        TestPrograms.need("qemu-system-arm");
        BuildSpec spec = new GestureProject(folder)
                .spec("mps2-an386")
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.of(GestureProject.VECTORS), 2, 0))
                .build();
        KeptLog log = new KeptLog();
        Flow flow = new Flow(log, TestToolchains.environment(log));
        flow.build(spec, DeviceSpec.USUAL);
        flow.front(spec);
        String page = new GestureProject(folder).text("kiln/index.html");
        if (Boolean.getBoolean("kiln.site.write")) {
            write(page);
        }
        assertThat(PAGE).content(StandardCharsets.UTF_8).isEqualTo(page);
        DocBlock shown = DocBlock.of("").stream()
                .filter(block -> block.page().equals("fit.md") && block.text().startsWith("Measured "))
                .findFirst()
                .orElseThrow();
        assertThat(String.join("\n", log.said()).lines())
                .containsAll(
                        shown.text().lines().filter(line -> !line.contains("…")).toList());
    }

    /** The pictures are parts of the page, with its style. */
    @Test
    void thePicturesAreThoseOfThePage() throws IOException {
        String page = Files.readString(PAGE);
        assertThat(SITE.resolve("images/graph.svg"))
                .content(StandardCharsets.UTF_8)
                .isEqualTo(graph(page));
        assertThat(SITE.resolve("images/front.svg"))
                .content(StandardCharsets.UTF_8)
                .isEqualTo(front(page));
        assertThat(PICTURED).content(StandardCharsets.UTF_8).isEqualTo(digest(page));
    }

    private static void write(String page) throws IOException {
        Files.createDirectories(PAGE.getParent());
        Files.writeString(PAGE, page);
        Files.writeString(SITE.resolve("images/graph.svg"), graph(page));
        Files.writeString(SITE.resolve("images/front.svg"), front(page));
        TestPrograms.need("chromium");
        Browser.picture(PAGE.toUri(), 1200, 740, PICTURE);
        Files.writeString(PICTURED, digest(page));
    }

    private static String digest(String page) {
        return Digests.sha256(page) + "\n";
    }

    private static String graph(String page) {
        return alone(page, "graph", page.indexOf("class=\"graph\""));
    }

    private static String front(String page) {
        return alone(page, null, page.indexOf("id=\"front\""));
    }

    /** The first picture of a kind behind a place, as a file with the style and the arrow that the page has for it. */
    private static String alone(String page, String kind, int from) {
        Matcher svg = SVG.matcher(page);
        assertThat(svg.find(Math.max(0, from - 10))).as("a picture").isTrue();
        String size =
                svg.group(2) + "\" height=\"" + svg.group(3) + "\" viewBox=\"0 0 " + svg.group(2) + " " + svg.group(3);
        String arrow = page.replaceFirst("(?s).*(<defs>.*?</defs>).*", "$1");
        return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size
                + "\">\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n<style>\n" + style() + "</style>\n"
                + ("graph".equals(kind) ? arrow : "") + svg.group(4) + "</svg>\n";
    }

    /** The colours of the light page, and what holds for pictures. */
    private static String style() {
        List<String> lines = Page.STYLE.lines().toList();
        int end = lines.indexOf("}");
        return lines.subList(lines.indexOf(":root {"), end + 1).stream()
                        .filter(line -> !line.contains("color-scheme"))
                        .collect(Collectors.joining("\n", "", "\n"))
                + lines.stream().filter(line -> line.startsWith("svg ")).collect(Collectors.joining("\n", "", "\n"));
    }
}
