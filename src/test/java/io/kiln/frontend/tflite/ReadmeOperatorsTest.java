// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page of operators lists those that are imported, and the example of how to add one shows code that is there. */
class ReadmeOperatorsTest {
    private static final List<Path> SOURCES =
            List.of(Path.of("src/main/java/io/kiln"), Path.of("src/test/java/io/kiln"));

    @Test
    void theTableNamesEveryOperatorAndNoOther() throws IOException {
        TreeSet<String> named = new TreeSet<>();
        Matcher cells = Pattern.compile("^\\| (`[^|]+) \\|", Pattern.MULTILINE)
                .matcher(section("operators.md", "## Supported operators"));
        while (cells.find()) {
            Stream.of(cells.group(1).replace("`", "").split(" ", -1)).forEach(named::add);
        }
        assertThat(named).containsExactlyInAnyOrder(SupportedOperators.names().split(", ", -1));
    }

    @Test
    void theExamplesAreInTheFilesThatTheyName() throws IOException {
        Matcher steps = Pattern.compile("`([a-z/]+/[A-Za-z]+\\.java)`[^`]*\\s+```java\\s+([^`]+?)\\s+```")
                .matcher(section("add-an-operator.md", "## An operator of an existing family")
                        + section("add-an-operator.md", "## An operator of its own"));
        int found = 0;
        while (steps.find()) {
            found++;
            assertThat(content(steps.group(1))).contains(normal(steps.group(2)));
        }
        assertThat(found).isEqualTo(7);
    }

    private static String content(String file) throws IOException {
        for (Path root : SOURCES) {
            if (Files.exists(root.resolve(file))) {
                return normal(Files.readString(root.resolve(file)));
            }
        }
        throw new AssertionError("there is no " + file);
    }

    /** Without the line breaks that formatting makes. */
    private static String normal(String code) {
        return code.replaceAll("\\s+", " ");
    }

    private static String section(String page, String heading) throws IOException {
        String text = Files.readString(Path.of("src/site/markdown", page));
        int begin = text.indexOf(heading + "\n");
        assertThat(begin).isNotNegative();
        int end = text.indexOf("\n#", begin + heading.length());
        return text.substring(begin, end < 0 ? text.length() : end);
    }
}
