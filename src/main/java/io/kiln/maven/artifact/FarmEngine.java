// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.artifact;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.net.MalformedURLException;
import java.net.URL;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.classworlds.realm.ClassRealm;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.RepositorySystemSession;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.repository.RemoteRepository;
import org.eclipse.aether.resolution.ArtifactRequest;
import org.eclipse.aether.resolution.ArtifactResolutionException;
import org.eclipse.aether.resolution.ArtifactResult;

/**
 * Apache Artemis, the engine of farms. Maven fetches all dependencies of a plugin before any of its goals runs, so Artemis is
 * not declared as one: it is fetched when a farm is used, and added to the plugin's classes.
 */
public final class FarmEngine {
    private static final String ARTEMIS = ":2.57.0";
    private static final String NETTY = ":4.1.138.Final";

    /**
     * All that is fetched, and nothing that these name as their dependencies: Artemis' own for clusters, databases, files of properties and native
     * transports are left out, and some are newer than what Artemis asks for. The same as in pom.xml, with which the tests run.
     */
    static final List<String> PARTS = List.of(
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
            "org.jctools:jctools-core:4.0.7");

    private static final String ANY_CLASS = "org.apache.activemq.artemis.core.server.ActiveMQServer";
    private static final String LOG_LEVEL = "org.slf4j.simpleLogger.log.";

    private final RepositorySystem system;
    private final RepositorySystemSession session;
    private final MavenProject project;

    public FarmEngine(RepositorySystem system, RepositorySystemSession session, MavenProject project) {
        this.system = system;
        this.session = session;
        this.project = project;
    }

    /**
     * Makes sure that the engine's classes are found.
     *
     * @throws KilnException if it cannot be fetched
     */
    public void provide() {
        synchronized (FarmEngine.class) {
            if (isThere()) {
                return;
            }
            // Kiln logs what matters; the engine's own log has dozens of lines.
            for (String name : List.of("org.apache.activemq", "io.netty")) {
                if (System.getProperty(LOG_LEVEL + name) == null) {
                    System.setProperty(LOG_LEVEL + name, "error");
                }
            }
            if (!(FarmEngine.class.getClassLoader() instanceof ClassRealm realm)) {
                throw new IllegalStateException("goals run in a realm of Maven");
            }
            fetch().forEach(realm::addURL);
        }
    }

    private static boolean isThere() {
        try {
            Class.forName(ANY_CLASS, false, FarmEngine.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private List<URL> fetch() {
        Set<RemoteRepository> repositories = new LinkedHashSet<>(project.getRemoteProjectRepositories());
        repositories.addAll(project.getRemotePluginRepositories());
        List<ArtifactRequest> requests = PARTS.stream()
                .map(part -> new ArtifactRequest(new DefaultArtifact(part), List.copyOf(repositories), ""))
                .toList();
        try {
            List<URL> urls = new ArrayList<>();
            for (ArtifactResult result : system.resolveArtifacts(session, requests)) {
                urls.add(result.getArtifact().getFile().toURI().toURL());
            }
            return urls;
        } catch (ArtifactResolutionException | MalformedURLException e) {
            throw new KilnException(
                    new Problem(
                            "the engine of farms cannot be fetched: " + e.getMessage(),
                            PARTS.get(0),
                            "an artifact in the local repository or in one of the settings",
                            session.isOffline()
                                    ? "Run once without -o"
                                    : "Check the network and the mirrors in settings.xml"),
                    e);
        }
    }
}
