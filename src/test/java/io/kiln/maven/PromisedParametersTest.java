// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.maven.group.ParameterGroup;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.maven.plugin.descriptor.MojoDescriptor;
import org.apache.maven.plugin.descriptor.Parameter;
import org.apache.maven.plugin.descriptor.PluginDescriptor;
import org.apache.maven.plugin.descriptor.PluginDescriptorBuilder;
import org.codehaus.plexus.configuration.PlexusConfiguration;
import org.junit.jupiter.api.Test;

/**
 * Goals, parameters, properties and defaults are a promise to users: a list under review has them. {@code -Dkiln.parameters.write=true}
 * writes it anew.
 */
final class PromisedParametersTest {
    private static final Path LIST = Path.of("src/test/resources/io/kiln/maven/parameters.txt");

    @Test
    void theListHasEveryGoalAndParameter() throws Exception {
        String list = list();
        if (Boolean.getBoolean("kiln.parameters.write")) {
            Files.writeString(LIST, list);
        }
        assertThat(list.lines()).hasSizeGreaterThan(200);
        assertThat(Files.readString(LIST)).isEqualTo(list);
    }

    /** Each parameter once, with the goals that have it. */
    private static String list() throws Exception {
        Map<String, List<String>> goals = new TreeMap<>();
        for (MojoDescriptor mojo : plugin().getMojos()) {
            goals.computeIfAbsent("goal kiln:" + mojo.getGoal() + phase(mojo), key -> new ArrayList<>());
            for (Parameter parameter : mojo.getParameters()) {
                if (parameter.isEditable()) {
                    goals.computeIfAbsent(line(mojo, parameter), key -> new ArrayList<>())
                            .add(mojo.getGoal());
                }
            }
        }
        for (ParameterGroup group : ParameterGroup.all()) {
            group.elements()
                    .forEach(element -> goals.put(
                            "element <" + group.name() + "><" + element.name() + "> ${" + group.property(element) + "}"
                                    + usual(element.usual()),
                            List.of()));
        }
        StringBuilder text = new StringBuilder();
        goals.forEach((line, names) -> {
            text.append(line).append('\n');
            if (!names.isEmpty()) {
                text.append("    ").append(String.join(" ", names)).append('\n');
            }
        });
        return text.toString();
    }

    private static String phase(MojoDescriptor mojo) {
        return Optional.ofNullable(mojo.getPhase()).map(phase -> " in " + phase).orElse("");
    }

    private static String usual(Optional<String> value) {
        return value.map(text -> " = " + (text.isEmpty() ? "nothing" : text)).orElse("");
    }

    private static String line(MojoDescriptor mojo, Parameter parameter) {
        PlexusConfiguration value = mojo.getMojoConfiguration().getChild(parameter.getName());
        return "parameter <" + parameter.getName() + ">"
                + Optional.ofNullable(value.getValue())
                        .map(property -> " " + property)
                        .orElse("")
                + usual(Optional.ofNullable(value.getAttribute("default-value")));
    }

    private static PluginDescriptor plugin() throws Exception {
        try (Reader reader = Files.newBufferedReader(Path.of("target/classes/META-INF/maven/plugin.xml"))) {
            return new PluginDescriptorBuilder().build(reader);
        }
    }
}
