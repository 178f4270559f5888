// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page about ONNX names the operators that are imported. */
class OnnxPageTest {
    @Test
    void theTableNamesEveryOperatorAndNoOther() throws IOException {
        String page = Files.readString(Path.of("src", "site", "markdown", "onnx.md"));
        int begin = page.indexOf("## Operators\n");
        String section = page.substring(begin, page.indexOf("\n## ", begin + 4));
        TreeSet<String> named = new TreeSet<>();
        Matcher cells = Pattern.compile("^\\| [^|]+ \\| (`[^|]+) \\|", Pattern.MULTILINE)
                .matcher(section);
        while (cells.find()) {
            Stream.of(cells.group(1).replace("`", "").split(" ", -1)).forEach(named::add);
        }
        assertThat(named).containsExactlyElementsOf(OnnxOperators.names());
    }
}
