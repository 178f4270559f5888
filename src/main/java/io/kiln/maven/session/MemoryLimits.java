// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.project.MavenProject;

/** The properties {@code kiln.memory.<name>}, whose names the board decides. */
public final class MemoryLimits {
    private static final String PREFIX = "kiln.memory.";

    private MemoryLimits() {}

    /**
     * The limits by name of the memory; properties of the command line override the project's.
     *
     * @param configured the element of the plugin's configuration, which overrides both
     */
    public static Map<String, String> of(MavenSession session, MavenProject project, Map<String, String> configured) {
        Map<String, String> limits = new TreeMap<>();
        add(project.getProperties(), limits);
        add(session.getUserProperties(), limits);
        limits.putAll(configured);
        return limits;
    }

    private static void add(Properties properties, Map<String, String> limits) {
        properties.stringPropertyNames().stream()
                .filter(name -> name.startsWith(PREFIX))
                .forEach(name -> limits.put(name.substring(PREFIX.length()), properties.getProperty(name)));
    }
}
