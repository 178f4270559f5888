// SPDX-License-Identifier: Apache-2.0
package io.kiln.docs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The list of sections that the search of the site looks through. The site's build starts this file by itself, {@code java SiteSections.java OUTPUT}:
 * it needs nothing but the JDK.
 */
public final class SiteSections {
    private static final Path PAGES = Path.of("src", "site", "markdown");
    private static final Pattern HEADING = Pattern.compile("#{1,4} +(.*)");
    private static final Pattern LINK = Pattern.compile("!?\\[([^\\]]*)\\]\\([^)]*\\)");
    private static final Pattern TAG = Pattern.compile("<!--.*?-->|<a id=\"[^>]*></a>");

    private static final Pattern MARK = Pattern.compile("^\\s*(\\*|[0-9]+\\.) ");

    private SiteSections() {}

    /**
     * What stands between two headings.
     *
     * @param page file name of the page in the site
     * @param anchor of the heading, as Doxia makes it
     * @param title first heading of the page
     * @param heading without marks
     * @param text without marks, in one line
     */
    public record Section(String page, String anchor, String title, String heading, String text) {}

    /** Writes the script with the list. */
    public static void main(String[] arguments) throws IOException {
        Path file = Path.of(arguments[0]);
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.writeString(file, script(all()));
    }

    /** The sections of all pages, and of the page on security, which lies beside the README. */
    static List<Section> all() throws IOException {
        List<Section> sections = new ArrayList<>();
        try (Stream<Path> pages = Files.list(PAGES)) {
            for (Path page : Stream.concat(pages.sorted(), Stream.of(Path.of("SECURITY.md")))
                    .toList()) {
                String name = page.getFileName().toString().replace(".md", ".html");
                sections.addAll(of(name, Files.readAllLines(page)));
            }
        }
        return sections;
    }

    private static List<Section> of(String page, List<String> lines) {
        List<Section> sections = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        String title = "";
        String heading = "";
        boolean isCode = false;
        for (String line : lines) {
            Matcher matcher = HEADING.matcher(line);
            isCode ^= line.strip().startsWith("```");
            if (isCode || !matcher.matches()) {
                text.append(
                                line.strip().startsWith("```")
                                        ? ""
                                        : isCode
                                                ? line
                                                : plain(MARK.matcher(line).replaceAll("")))
                        .append(' ');
                continue;
            }
            add(sections, page, title, heading, text);
            heading = plain(matcher.group(1));
            title = title.isEmpty() ? heading : title;
        }
        add(sections, page, title, heading, text);
        return sections;
    }

    private static void add(List<Section> sections, String page, String title, String heading, StringBuilder text) {
        if (!heading.isEmpty()) {
            sections.add(new Section(
                    page,
                    anchor(heading),
                    title,
                    heading,
                    text.toString().replaceAll("\\s+", " ").strip()));
        }
        text.setLength(0);
    }

    /** Text without the marks of Markdown. */
    private static String plain(String line) {
        String text = TAG.matcher(LINK.matcher(line).replaceAll("$1")).replaceAll("");
        return text.replaceAll("[`|]|\\*\\*|:?--+:?", " ").replaceAll(" +", " ").strip();
    }

    /** The id that Doxia gives a heading. */
    private static String anchor(String heading) {
        StringBuilder id = new StringBuilder(Character.isLetter(heading.charAt(0)) ? "" : "a");
        for (byte b : heading.replace(' ', '_').getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (b & 0xFF);
            boolean isKept = c < 128 && (Character.isLetterOrDigit(c) || "-_:.".indexOf(c) >= 0);
            id.append(isKept ? String.valueOf(c) : "." + Integer.toHexString(c).toUpperCase(Locale.ROOT));
        }
        return id.toString();
    }

    private static String script(List<Section> sections) {
        return sections.stream()
                .map(section -> Stream.of(section.page, section.anchor, section.title, section.heading, section.text)
                        .map(SiteSections::quoted)
                        .collect(Collectors.joining(",", "[", "]")))
                .collect(Collectors.joining(",\n", "kilnSections([\n", "\n]);\n"));
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("<", "\\u003c") + '"';
    }
}
