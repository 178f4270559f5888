// SPDX-License-Identifier: Apache-2.0
package io.kiln.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A fenced block of the README or the site. A comment right above it says what its test has to know:
 *
 * <ul>
 *   <li>{@code <!-- as: KIND -->}: what the block is a part of
 *   <li>{@code <!-- tried by: NAME -->}: the test class, or the scenario in {@code src/it}, that runs it
 *   <li>{@code <!-- not run: REASON -->}: why its commands are checked, but not run
 *   <li>{@code <!-- not tried: REASON -->}: why nothing does
 * </ul>
 *
 * @param page file name of the page
 * @param line number of its first line
 * @param language what stands behind the fence
 * @param text its lines
 * @param key {@code as}, {@code tried by}, {@code not run} or {@code not tried}; empty without a comment
 * @param note what the comment says
 */
public record DocBlock(String page, int line, String language, String text, String key, String note) {
    private static final Path PAGES = Path.of("src", "site", "markdown");
    private static final Pattern FENCE = Pattern.compile("( *)```(\\S*)");
    private static final Pattern COMMENT = Pattern.compile(" *<!-- (as|tried by|not run|not tried): (.+) -->");

    /** All blocks of a language; of any with one if none is named. */
    public static List<DocBlock> of(String... languages) {
        List<String> asked = List.of(languages);
        return pages().stream()
                .flatMap(page -> read(page).stream())
                .filter(block -> asked.isEmpty() || asked.contains(block.language))
                .toList();
    }

    /** The blocks of a language that a test has to check itself, and does not leave to another one. */
    public static List<DocBlock> toCheck(String... languages) {
        return of(languages).stream()
                .filter(block -> block.isToRun() || block.key.equals("not run"))
                .toList();
    }

    /** Whether nothing says that it is left out or left to another test. */
    public boolean isToRun() {
        return key.isEmpty() || key.equals("as");
    }

    /** What the comment says that it is a part of; empty if it says nothing of this. */
    public Optional<String> as() {
        return key.equals("as") ? Optional.of(note) : Optional.empty();
    }

    /** Where it stands. */
    public String where() {
        return page + ", line " + line;
    }

    private static List<Path> pages() {
        try (Stream<Path> files = Files.list(PAGES)) {
            return Stream.concat(Stream.of(Path.of("README.md")), files)
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<DocBlock> read(Path page) {
        List<String> lines;
        try {
            lines = Files.readAllLines(page);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        List<DocBlock> blocks = new ArrayList<>();
        int at = 0;
        while (at < lines.size()) {
            Matcher fence = FENCE.matcher(lines.get(at));
            if (!fence.matches()) {
                at++;
                continue;
            }
            int end = at + 1;
            while (!lines.get(end).equals(fence.group(1) + "```")) {
                end++;
            }
            int indent = fence.group(1).length();
            StringBuilder text = new StringBuilder();
            for (String line : lines.subList(at + 1, end)) {
                text.append(line.substring(Math.min(indent, line.length()))).append('\n');
            }
            int above = at - 1;
            while (above >= 0 && lines.get(above).isBlank()) {
                above--;
            }
            Matcher comment = COMMENT.matcher(above < 0 ? "" : lines.get(above));
            boolean isSaid = comment.matches();
            blocks.add(new DocBlock(
                    page.getFileName().toString(),
                    at + 2,
                    fence.group(2),
                    text.toString(),
                    isSaid ? comment.group(1) : "",
                    isSaid ? comment.group(2) : ""));
            at = end + 1;
        }
        return blocks;
    }
}
