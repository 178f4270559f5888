// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.maven.artifact.Artifact;
import org.apache.maven.cli.MavenCli;
import org.apache.maven.execution.scope.internal.MojoExecutionScopeModule;
import org.apache.maven.plugin.DefaultExtensionRealmCache;
import org.apache.maven.plugin.ExtensionRealmCache;
import org.apache.maven.plugin.descriptor.PluginDescriptor;
import org.apache.maven.plugin.descriptor.PluginDescriptorBuilder;
import org.apache.maven.project.ExtensionDescriptor;
import org.apache.maven.session.scope.internal.SessionScopeModule;
import org.codehaus.plexus.DefaultPlexusContainer;
import org.codehaus.plexus.PlexusContainer;
import org.codehaus.plexus.classworlds.ClassWorld;
import org.codehaus.plexus.classworlds.realm.ClassRealm;
import org.codehaus.plexus.classworlds.realm.NoSuchRealmException;
import org.codehaus.plexus.component.repository.ComponentDescriptor;
import org.codehaus.plexus.component.repository.exception.ComponentLookupException;
import org.codehaus.plexus.configuration.PlexusConfigurationException;

/**
 * A Maven that runs one build after another in the same Java process, for the scenarios in {@code src/it}: most of a short build's time is
 * loading and compiling Maven's classes and Kiln's. Each build has a container of its own. Class loaders of plugins with extensions stay,
 * as in Maven's daemon, for builds that have the same jars. The client is {@code src/test/resident-maven/mvn}; pipes in a folder connect the two.
 */
public final class ResidentMaven {
    private ResidentMaven() {}

    /**
     * Runs builds until the process that asks for them ends.
     *
     * @param arguments the folder with the pipes, where the status of each build is written too, and the process to live as long as
     * @param launched Maven's own classes
     * @throws IOException if a pipe does not work
     */
    public static void main(String[] arguments, ClassWorld launched) throws IOException {
        Path folder = Path.of(arguments[0]);
        Thread watcher = new Thread(() -> {
            ProcessHandle.of(Long.parseLong(arguments[1]))
                    .ifPresent(builder -> builder.onExit().join());
            Runtime.getRuntime().halt(0);
        });
        watcher.setDaemon(true);
        watcher.start();
        Properties properties = System.getProperties();
        KeptWorld world = new KeptWorld(launched);
        Path status = folder.resolve("status");
        Files.createFile(status);
        while (true) {
            List<String> request =
                    List.of(Files.readString(folder.resolve("request"), UTF_8).split("\0"));
            try (PrintStream answer = new PrintStream(
                    new FileOutputStream(folder.resolve("answer").toFile()), true, UTF_8)) {
                // Maven makes what a command line defines properties of the process.
                System.setProperties((Properties) properties.clone());
                int result = run(world, Path.of(request.get(0)), request.subList(1, request.size()), answer);
                Files.writeString(status, Integer.toString(result), UTF_8);
            }
        }
    }

    private static int run(KeptWorld world, Path directory, List<String> arguments, PrintStream answer) {
        System.setProperty("user.dir", directory.toString());
        System.setProperty(
                MavenCli.MULTIMODULE_PROJECT_DIRECTORY, projectRoot(directory).toString());
        MavenCli maven = new MavenCli(world) {
            @Override
            protected void customizeContainer(PlexusContainer container) {
                container.addComponent(
                        new KeptExtensions((DefaultPlexusContainer) container, world),
                        ExtensionRealmCache.class,
                        "default");
            }
        };
        return maven.doMain(arguments.toArray(String[]::new), directory.toString(), answer, answer);
    }

    /** Returns the first folder upwards that has {@code .mvn}, as Maven's start script does, or else the directory itself. */
    private static Path projectRoot(Path directory) {
        for (Path at = directory; at != null; at = at.getParent()) {
            if (Files.isDirectory(at.resolve(".mvn"))) {
                return at;
            }
        }
        return directory;
    }

    /** Class loaders that outlive builds: Maven's own, and those of extensions. Maven disposes of all others behind each build. */
    private static final class KeptWorld extends ClassWorld {
        private final ClassWorld launched;
        private final Map<ExtensionRealmCache.Key, ExtensionRealmCache.CacheRecord> extensions = new HashMap<>();

        KeptWorld(ClassWorld launched) {
            this.launched = launched;
        }

        @Override
        public synchronized ClassRealm getClassRealm(String id) {
            ClassRealm own = super.getClassRealm(id);
            return own == null ? launched.getClassRealm(id) : own;
        }

        @Override
        public synchronized void disposeRealm(String id) throws NoSuchRealmException {
            if (extensions.values().stream()
                    .noneMatch(kept -> kept.getRealm().getId().equals(id))) {
                super.disposeRealm(id);
            }
        }
    }

    /** The class loaders of extensions, for one build's container: it gets to know the components in a class loader that was kept. */
    private static final class KeptExtensions extends DefaultExtensionRealmCache {
        private final DefaultPlexusContainer container;
        private final KeptWorld world;
        private final Set<Key> known = new HashSet<>();

        KeptExtensions(DefaultPlexusContainer container, KeptWorld world) {
            this.container = container;
            this.world = world;
        }

        @Override
        public synchronized CacheRecord get(Key key) {
            CacheRecord kept = world.extensions.get(key);
            if (kept != null && known.add(key)) {
                introduce(kept.getRealm());
            }
            return kept;
        }

        @Override
        public synchronized CacheRecord put(
                Key key, ClassRealm realm, ExtensionDescriptor descriptor, List<Artifact> artifacts) {
            CacheRecord record = super.put(key, realm, descriptor, artifacts);
            world.extensions.put(key, record);
            known.add(key);
            return record;
        }

        /** As Maven's plugin manager does with the class loader of an extension that it made. */
        private void introduce(ClassRealm realm) {
            try (InputStream xml = realm.getResourceAsStream("META-INF/maven/plugin.xml")) {
                PluginDescriptor descriptor =
                        new PluginDescriptorBuilder().build(new InputStreamReader(xml, UTF_8), realm.getId());
                for (ComponentDescriptor<?> component : descriptor.getComponents()) {
                    component.setRealm(realm);
                    container.addComponentDescriptor(component);
                }
                container.discoverComponents(
                        realm, new SessionScopeModule(container), new MojoExecutionScopeModule(container));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (PlexusConfigurationException | ComponentLookupException e) {
                throw new IllegalStateException(realm.getId(), e);
            }
        }

        @Override
        public void flush() {
            // Containers end with their builds; class loaders stay.
        }
    }
}
