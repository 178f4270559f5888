// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.maven.ToldGoal;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Properties whose names nobody knows count wherever others do. */
final class NamedPropertiesTest {
    @Test
    void theCommandLineWinsOverJavaAndThatOverTheProject() {
        ToldGoal told = new ToldGoal();
        told.properties().setProperty("kiln.memory.a", "project");
        assertThat(of(told, null)).isEqualTo(Map.of("a", "project"));
        // MAVEN_OPTS and .mvn/jvm.config set these.
        told.system().setProperty("kiln.memory.a", "java");
        told.system().setProperty("kiln.memory.b", "java");
        assertThat(of(told, null)).isEqualTo(Map.of("a", "java", "b", "java"));
        told.user().setProperty("kiln.memory.a", "user");
        assertThat(of(told, null)).isEqualTo(Map.of("a", "user", "b", "java"));
        assertThat(of(told, Map.of("a", "xml"))).isEqualTo(Map.of("a", "xml", "b", "java"));
    }

    private static Map<String, String> of(ToldGoal told, Map<String, String> configured) {
        return new NamedProperties(told.session(), told.project()).of("kiln.memory.", configured);
    }
}
