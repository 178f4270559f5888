// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.artifact;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.farm.link.EngineParts;
import java.net.MalformedURLException;
import java.net.URL;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
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
    private static final String ANY_CLASS = "org.apache.activemq.artemis.core.server.ActiveMQServer";
    private static final String LOG_LEVEL = "org.slf4j.simpleLogger.log.";

    /** Kiln logs what matters; the engine's own log has dozens of lines, and its client's a stack trace for a network that is away. */
    static final Map<String, String> LOG_LEVELS = Map.of(
            "org.apache.activemq", "error",
            "org.apache.activemq.artemis.core.client", "off",
            "org.apache.qpid", "error",
            "io.netty", "error");

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
            LOG_LEVELS.forEach((name, level) -> {
                if (System.getProperty(LOG_LEVEL + name) == null) {
                    System.setProperty(LOG_LEVEL + name, level);
                }
            });
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
        List<ArtifactRequest> requests = EngineParts.ALL.stream()
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
                    Failure.FARM.problem(
                            "the engine of farms cannot be fetched: " + e.getMessage(),
                            EngineParts.ALL.get(0),
                            "an artifact in the local repository or in one of the settings",
                            session.isOffline()
                                    ? "Run once without -o"
                                    : "Check the network and the mirrors in settings.xml"),
                    e);
        }
    }
}
