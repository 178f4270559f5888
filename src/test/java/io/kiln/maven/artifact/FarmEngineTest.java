// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.artifact;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class FarmEngineTest {
    /** Those of which the engine consists. */
    private static final String ENGINE =
            ".*/(artemis|netty|caffeine|jctools|commons-(beanutils|collections|logging))-[^/]*\\.jar";

    /** What is fetched when a farm is used is what the tests run, with no part missing and none too many. */
    @Test
    void theParts_areThoseOfTheClassPath() {
        List<String> files = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .map(jar -> jar.replace(File.separatorChar, '/'))
                .filter(jar -> jar.matches(ENGINE))
                .toList();
        assertThat(files)
                .hasSameSizeAs(FarmEngine.PARTS)
                .allMatch(file -> FarmEngine.PARTS.stream().anyMatch(part -> file.endsWith(path(part))));
    }

    private static String path(String part) {
        String[] words = part.split(":", -1);
        return Stream.of(words[0].replace('.', '/'), words[1], words[2], words[1] + "-" + words[2] + ".jar")
                .collect(Collectors.joining("/"));
    }
}
