// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.project.MavenProject;

/**
 * Properties of one prefix, such as {@code kiln.memory.<name>}, whose names are not known in advance.
 *
 * @param session has those of the command line, and those that {@code MAVEN_OPTS} or {@code .mvn/jvm.config} give to Java
 * @param project has its own
 */
public record NamedProperties(MavenSession session, MavenProject project) {
    /**
     * Their values by the names behind the prefix; properties of Java override the project's, and those of the command line both.
     *
     * @param configured the element of the plugin's configuration, which overrides all; null if there is none
     */
    public Map<String, String> of(String prefix, Map<String, String> configured) {
        Map<String, String> values = new TreeMap<>();
        add(project.getProperties(), prefix, values);
        add(session.getSystemProperties(), prefix, values);
        add(session.getUserProperties(), prefix, values);
        if (configured != null) {
            values.putAll(configured);
        }
        return values;
    }

    private static void add(Properties properties, String prefix, Map<String, String> values) {
        properties.stringPropertyNames().stream()
                .filter(name -> name.startsWith(prefix))
                .forEach(name -> values.put(name.substring(prefix.length()), properties.getProperty(name)));
    }
}
