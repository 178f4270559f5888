// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.node;

import io.kiln.base.WholeFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The part of the page about ONNX that tells what becomes of the ONNX project's tests. */
final class OnnxPage {
    private static final Path FILE = Path.of("src", "site", "markdown", "onnx.md");
    private static final String BEGIN = "<!-- begin of what OnnxNodeTest writes -->\n";
    private static final String END = "<!-- end of what OnnxNodeTest writes -->";

    private OnnxPage() {}

    /** The part as it stands on the page. */
    static String stated() {
        String page = page();
        return page.substring(page.indexOf(BEGIN) + BEGIN.length(), page.indexOf(END));
    }

    /** Writes the part. */
    static void write(String part) {
        String page = page();
        String whole =
                page.substring(0, page.indexOf(BEGIN) + BEGIN.length()) + part + page.substring(page.indexOf(END));
        WholeFiles.write(FILE, whole.getBytes(StandardCharsets.UTF_8));
    }

    private static String page() {
        try {
            return Files.readString(FILE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A sentence with the numbers, and a table of what is refused, by reason. */
    static String part(List<Outcome> outcomes) {
        Map<String, List<String>> refused = new TreeMap<>();
        List<Outcome> sorted = outcomes.stream()
                .sorted(Comparator.comparing(o -> o.test().name()))
                .toList();
        for (Outcome outcome : sorted) {
            if (outcome.kind() == Outcome.Kind.REFUSED) {
                refused.computeIfAbsent(outcome.text(), reason -> new ArrayList<>())
                        .add(outcome.test().name().replaceFirst("^test_", ""));
            }
        }
        long passed =
                outcomes.stream().filter(o -> o.kind() == Outcome.Kind.PASSED).count();
        StringBuilder text = new StringBuilder("Of " + outcomes.size() + " tests, " + passed
                + " pass, and the others are refused:\n\n| Reason | Tests |\n| --- | --- |\n");
        refused.forEach((reason, tests) -> text.append("| ")
                .append(reason.replace("|", "\\|").replace("<", "&lt;"))
                .append(" | ")
                .append(String.join(", ", tests))
                .append(" |\n"));
        return text.toString();
    }
}
