// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.artifact;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class FarmEngineTest {
    /** What is fetched when a farm is used is what the tests run. */
    @Test
    void theVersionIsThatOfTheDependency() throws IOException {
        assertThat(Files.readString(Path.of("pom.xml")))
                .contains("<artemis.version>" + FarmEngine.VERSION + "</artemis.version>");
    }
}
