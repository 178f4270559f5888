// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BuiltInIndexTest {
    @Test
    void theIndexNamesEveryFile() throws IOException {
        Path root = Path.of("toolchains", "boards");
        try (Stream<Path> walk = Files.walk(root)) {
            List<String> files = walk.filter(Files::isRegularFile)
                    .map(file -> root.relativize(file).toString().replace('\\', '/'))
                    .filter(name -> name.contains("/"))
                    .sorted()
                    .toList();
            assertThat(Files.readAllLines(root.resolve("index.txt"))).isEqualTo(files);
        }
    }
}
