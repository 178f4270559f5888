// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.group;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.farm.client.FarmClient.JobTerms;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.link.EngineParts;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmAddress.FarmAccess;
import io.kiln.farm.link.FarmAddress.FarmAccess.Store;
import io.kiln.farm.link.FarmAddress.LocalToken;
import io.kiln.farm.link.FarmAddress.Scheme;
import io.kiln.farm.link.FarmMember;
import io.kiln.flow.spec.FarmUse;
import io.kiln.flow.spec.WorkerSpec.Care;
import io.kiln.flow.state.PluginVersion;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.classworlds.realm.ClassRealm;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.RepositorySystemSession;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.repository.RemoteRepository;
import org.eclipse.aether.resolution.ArtifactRequest;
import org.eclipse.aether.resolution.ArtifactResolutionException;
import org.eclipse.aether.resolution.ArtifactResult;

/** {@code <farm>}: the farm that runs images in place of this computer, and this member's credentials. */
public final class Farm {
    private static final Element ADDRESS = Element.of(
                    "address",
                    "A farm that runs images in place of this computer: tcp://localhost:PORT, or tls://HOST:PORT for"
                            + " one on another computer, amqps://HOST:PORT for a broker of your own. If not set,"
                            + " everything runs here.")
            .ofGroup();
    private static final Element KEY_STORE = Element.of(
            "keyStore",
            "A PKCS #12 file with the key and the certificate of this member of the farm, or of the broker.");
    private static final Element KEY_STORE_PASSWORD =
            Element.of("keyStorePassword", "", "Password of kiln.farm.keyStore.");
    private static final Element TRUST_STORE = Element.of(
            "trustStore",
            "A PKCS #12 file with the certificates that this member of the farm trusts: those of other members, or of"
                    + " whoever signed them.");
    private static final Element TRUST_STORE_PASSWORD =
            Element.of("trustStorePassword", "", "Password of kiln.farm.trustStore.");
    private static final Element PASSWORD = Element.of(
            "password",
            "The password that all members of the farm know; with it, they need no certificates of their own. If not"
                    + " set, the members of a farm without TLS share the token in kiln.home.");
    private static final Element TIMEOUT =
            Element.of("timeout", "600", "Seconds without any result of the farm after which the goal fails.");

    private static final Element CONNECT = Element.of(
            "connectTimeout",
            "20",
            "Seconds that connecting to the farm and logging in may take; slow computers need more.");

    private static final Element NEEDS = Element.of(
            "needs", "Labels that a worker or board must have to get the jobs, such as silicon=real,room=3*.");
    private static final Element PRIORITY = Element.of(
            "priority",
            "0 to 9, the most urgent: which jobs come first. If not set, 2 for kiln:tune, 4 for other goals.");

    public static final ParameterGroup GROUP = new ParameterGroup(
            "farm",
            ADDRESS,
            KEY_STORE,
            KEY_STORE_PASSWORD,
            TRUST_STORE,
            TRUST_STORE_PASSWORD,
            PASSWORD,
            TIMEOUT,
            CONNECT,
            NEEDS,
            PRIORITY);

    private final GroupValues values;
    private final FarmEngine engine;
    private final Path home;
    private final Sender sender;

    /**
     * Who sends jobs.
     *
     * @param project that shares the farm with others
     * @param goal that sends them
     */
    public record Sender(String project, String goal) {}

    /**
     * @param values what the user has set
     * @param engine fetched before a farm is used
     * @param home folder of what all builds share, which has the token of local farms
     * @param sender who sends jobs
     */
    public Farm(GroupValues values, FarmEngine engine, Path home, Sender sender) {
        this.values = values;
        this.engine = engine;
        this.home = home;
        this.sender = sender;
    }

    /** Whether the value of a property, or of an XML element by its path, is secret. */
    static boolean isSecret(String name) {
        return Stream.of(KEY_STORE_PASSWORD, TRUST_STORE_PASSWORD, PASSWORD)
                .anyMatch(element -> name.equals(GROUP.property(element))
                        || name.equals(GROUP.alone(element))
                        || name.equals(GROUP.name() + "/" + element.name()));
    }

    /** The farm that runs images, if there is one. */
    public Optional<FarmUse> use() {
        return values.find(ADDRESS).filter(url -> !url.isBlank()).map(url -> new FarmUse(address(url), terms()));
    }

    private JobTerms terms() {
        int priority = values.smallIfSet(PRIORITY).orElse(JobTerms.usual(sender.goal()));
        if (priority < 0 || priority > JobTerms.MOST) {
            throw Failure.FARM.exception("kiln.farm.priority is " + priority, "", "0 to " + JobTerms.MOST);
        }
        return new JobTerms(
                Duration.ofSeconds(Math.max(1, values.small(TIMEOUT))),
                FarmMember.plain(sender.project()),
                priority,
                Labels.parse("kiln.farm.needs", values.find(NEEDS).orElse("")),
                PluginVersion.released());
    }

    /** A farm's address with this member's credentials; fetches the engine of farms. */
    public FarmAddress address(String url) {
        engine.provide();
        FarmAccess access = new FarmAccess(
                values.file(KEY_STORE).map(file -> new Store(file, values.text(KEY_STORE_PASSWORD))),
                values.file(TRUST_STORE).map(file -> new Store(file, values.text(TRUST_STORE_PASSWORD))),
                values.find(PASSWORD).filter(text -> !text.isEmpty()));
        FarmAddress address = FarmAddress.parse(url, access);
        boolean isLocal = address.scheme() == Scheme.TCP
                && address.isLoopback()
                && access.password().isEmpty();
        return (isLocal ? FarmAddress.parse(url, FarmAccess.by(LocalToken.of(home))) : address)
                .within(Duration.ofSeconds(Math.max(1, values.small(CONNECT))));
    }

    /** {@code <worker>}: who a worker is, and how it cares for its jobs and boards. */
    public static final class WorkerCare {
        private static final Element NAME = Element.of(
                "name", "The worker's name, unique in the farm. If not set, the computer's name and the process id.");
        private static final Element DRAIN =
                Element.of("drain", "45", "Seconds for which jobs that run may go on when the worker is told to end.");
        private static final Element POWER = Element.of(
                "power",
                "Command that cycles the power of a board that fails, such as cycle.sh {probe}. Its words are separated by"
                        + " spaces; there is no shell.");

        public static final ParameterGroup GROUP = new ParameterGroup("worker", NAME, DRAIN, POWER);

        private WorkerCare() {}

        /** The name, if one is set. */
        public static Optional<String> name(GroupValues values) {
            return values.find(NAME);
        }

        /** How the worker cares for its jobs and boards. */
        public static Care care(GroupValues values, String openOcd) {
            return new Care(
                    openOcd,
                    Duration.ofSeconds(Math.max(0, values.small(DRAIN))),
                    values.find(POWER).filter(line -> !line.isBlank()));
        }
    }

    /**
     * Apache Artemis, the engine of farms. Maven fetches all dependencies of a plugin before any of its goals runs, so Artemis is
     * not declared as one: it is fetched when a farm is used, and added to the plugin's classes.
     */
    public static final class FarmEngine {
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
}
