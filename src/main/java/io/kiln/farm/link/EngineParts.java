// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import java.nio.file.Path;
import java.util.List;

/** The artifacts of which the engine of farms consists, and the client for brokers of another make. */
public final class EngineParts {
    private static final String ARTEMIS = ":2.57.0";
    private static final String PROMETHEUS = ":1.10.0";
    private static final String PROTON = ":1.1.0";
    private static final String NETTY = ":4.1.138.Final";

    /**
     * All that is fetched, and nothing that these name as their dependencies: Artemis' own for clusters, databases, files of properties and native
     * transports are left out, and some are newer than what Artemis asks for. The same as in pom.xml, with which the tests run.
     */
    public static final List<String> ALL = List.of(
            "org.apache.artemis:artemis-server" + ARTEMIS,
            "org.apache.artemis:artemis-commons" + ARTEMIS,
            "org.apache.artemis:artemis-core-client" + ARTEMIS,
            "org.apache.artemis:artemis-journal" + ARTEMIS,
            "org.apache.artemis:artemis-lockmanager-api" + ARTEMIS,
            "org.apache.artemis:artemis-selector" + ARTEMIS,
            "io.netty:netty-buffer" + NETTY,
            "io.netty:netty-codec" + NETTY,
            "io.netty:netty-codec-http" + NETTY,
            "io.netty:netty-codec-socks" + NETTY,
            "io.netty:netty-common" + NETTY,
            "io.netty:netty-handler" + NETTY,
            "io.netty:netty-handler-proxy" + NETTY,
            "io.netty:netty-resolver" + NETTY,
            "io.netty:netty-transport" + NETTY,
            "io.netty:netty-transport-native-unix-common" + NETTY,
            "com.github.ben-manes.caffeine:caffeine:3.2.4",
            "commons-beanutils:commons-beanutils:1.11.0",
            "commons-collections:commons-collections:3.2.2",
            "commons-logging:commons-logging:1.3.5",
            "org.jctools:jctools-core:4.0.7",
            "org.apache.qpid:protonj2" + PROTON,
            "org.apache.qpid:protonj2-client" + PROTON,
            "io.prometheus:prometheus-metrics-config" + PROMETHEUS,
            "io.prometheus:prometheus-metrics-core" + PROMETHEUS,
            "io.prometheus:prometheus-metrics-exposition-textformats" + PROMETHEUS,
            "io.prometheus:prometheus-metrics-instrumentation-jvm" + PROMETHEUS,
            "io.prometheus:prometheus-metrics-model" + PROMETHEUS,
            "io.prometheus:prometheus-metrics-tracer-common" + PROMETHEUS,
            "io.prometheus:prometheus-metrics-tracer-initializer" + PROMETHEUS,
            "io.prometheus:prometheus-metrics-tracer-otel" + PROMETHEUS,
            "io.prometheus:prometheus-metrics-tracer-otel-agent" + PROMETHEUS);

    private EngineParts() {}

    /** Whether a jar is one of them: where a farm is used, they are among the plugin's classes. */
    public static boolean has(Path jar) {
        return ALL.stream().anyMatch(part -> jar.endsWith(path(part)));
    }

    /** Path of a part's jar in a local repository. */
    private static String path(String part) {
        String[] words = part.split(":", -1);
        return words[0].replace('.', '/') + "/" + words[1] + "/" + words[2] + "/" + words[1] + "-" + words[2] + ".jar";
    }
}
