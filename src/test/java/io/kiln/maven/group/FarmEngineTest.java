// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.farm.link.EngineParts;
import io.kiln.maven.group.Farm.FarmEngine;
import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.activemq.artemis.core.client.ActiveMQClientLogger;
import org.junit.jupiter.api.Test;

class FarmEngineTest {
    /** Those of which the engine consists. */
    private static final String ENGINE =
            ".*/(artemis|netty|prometheus|protonj2|caffeine|jctools|commons-(beanutils|collections|logging))-[^/]*\\.jar";

    /** A member without a network gets a message, and no stack trace of the engine's client beside it. */
    @Test
    void theClientOfTheEngine_logsNothing() {
        assertThat(FarmEngine.LOG_LEVELS).containsEntry(ActiveMQClientLogger.class.getPackageName(), "off");
    }

    /** What is fetched when a farm is used is what the tests run, with no part missing and none too many. */
    @Test
    void theParts_areThoseOfTheClassPath() {
        List<String> files = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .map(jar -> jar.replace(File.separatorChar, '/'))
                .filter(jar -> jar.matches(ENGINE))
                .toList();
        assertThat(files).hasSameSizeAs(EngineParts.ALL).allMatch(file -> EngineParts.has(Path.of(file)));
        assertThat(EngineParts.has(Path.of("org/apache/artemis/artemis-server/2.40.0/artemis-server-2.40.0.jar")))
                .isFalse();
    }
}
