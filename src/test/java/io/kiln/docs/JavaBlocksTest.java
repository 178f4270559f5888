// SPDX-License-Identifier: Apache-2.0
package io.kiln.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.JavaSources;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Java of the pages compiles against the interface that lasts alone; what is shown of Kiln's own sources stands in them. */
class JavaBlocksTest {
    private static final String OWN = "lines of Kiln's own sources";
    private static final Pattern CLASS = Pattern.compile("public class ([A-Za-z]+)");

    @TempDir
    private Path folder;

    @Test
    void everyBlockCompiles() throws IOException {
        List<Path> files = new ArrayList<>();
        for (DocBlock block : DocBlock.toCheck("java")) {
            if (block.as().isPresent()) {
                continue;
            }
            Matcher named = CLASS.matcher(block.text());
            boolean isWhole = named.find();
            String name = isWhole ? named.group(1) : "Block" + files.size();
            String text = isWhole ? block.text() : statements(name, block.text());
            files.add(Files.writeString(folder.resolve(name + ".java"), text));
        }
        assertThat(files).hasSizeGreaterThan(5);
        JavaSources.compile(JavaSources.promised(folder.resolve("promised")), folder.resolve("classes"), files);
    }

    private static String statements(String name, String text) {
        return "import io.kiln.api.*;\nimport java.nio.file.Path;\nimport java.util.List;\n" + "class " + name
                + " {\n  static void run(byte[] input) {\n" + text + "  }\n}\n";
    }

    @Test
    void whatIsShownOfTheSourcesStandsInThem() throws IOException {
        StringBuilder all = new StringBuilder();
        for (String root : List.of("src/main/java", "src/test/java")) {
            for (Path file : JavaSources.below(Path.of(root))) {
                all.append(flat(Files.readString(file)));
            }
        }
        List<DocBlock> blocks = DocBlock.of("java").stream()
                .filter(block -> block.as().filter(OWN::equals).isPresent())
                .toList();
        assertThat(blocks)
                .hasSizeGreaterThan(4)
                .allSatisfy(block -> assertThat(all.indexOf(flat(block.text())))
                        .as(block.where() + ": " + block.text())
                        .isPositive());
    }

    private static String flat(String text) {
        return text.replaceAll("\\s+", "");
    }
}
