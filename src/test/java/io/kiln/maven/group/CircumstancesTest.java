// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.group;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.util.List;
import java.util.Properties;
import java.util.function.Consumer;
import org.apache.maven.artifact.repository.MavenArtifactRepository;
import org.apache.maven.artifact.repository.layout.DefaultRepositoryLayout;
import org.apache.maven.execution.DefaultMavenExecutionRequest;
import org.apache.maven.execution.DefaultMavenExecutionResult;
import org.apache.maven.execution.MavenExecutionRequest;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.model.Build;
import org.apache.maven.model.Dependency;
import org.apache.maven.model.Model;
import org.apache.maven.model.Plugin;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.descriptor.MojoDescriptor;
import org.apache.maven.plugin.descriptor.PluginDescriptor;
import org.apache.maven.project.MavenProject;
import org.apache.maven.settings.Server;
import org.codehaus.plexus.util.xml.Xpp3Dom;
import org.eclipse.aether.DefaultRepositorySystemSession;
import org.junit.jupiter.api.Test;

/** Whatever a goal is told is among its circumstances, but for secrets, and for what differs in every run of Maven. */
final class CircumstancesTest {
    /** What a goal is told; as usual, until a test changes it. */
    private static final class Told {
        private final MavenExecutionRequest request = new DefaultMavenExecutionRequest();
        private final Properties system = new Properties();
        private final Properties user = new Properties();
        private final Properties project = new Properties();
        private final Xpp3Dom configuration = new Xpp3Dom("configuration");
        private final Plugin plugin = new Plugin();
        private String repository = "/home/me/.m2/repository";

        Told() {
            system.setProperty("java.version", "17.0.1");
            system.setProperty("user.dir", "/work");
            system.setProperty("env.PATH", "/usr/bin");
            project.setProperty("kiln.board", "host");
            request.setUserSettingsFile(new File("/home/me/.m2/settings.xml"));
            request.setGlobalSettingsFile(new File("/etc/settings.xml"));
            request.setUserToolchainsFile(new File("/home/me/.m2/toolchains.xml"));
            request.setGlobalToolchainsFile(new File("/etc/toolchains.xml"));
            request.addServer(server("signer", "/keys/signer.pem", "p4ssw0rd"));
        }

        private Told element(String name, String value) {
            Xpp3Dom child = new Xpp3Dom(name);
            child.setValue(value);
            configuration.addChild(child);
            return this;
        }

        private Told farm(String name, String value) {
            Xpp3Dom farm = new Xpp3Dom("farm");
            Xpp3Dom child = new Xpp3Dom(name);
            child.setValue(value);
            farm.addChild(child);
            configuration.addChild(farm);
            return this;
        }

        private static Server server(String id, String key, String password) {
            Server server = new Server();
            server.setId(id);
            server.setPrivateKey(key);
            server.setPassword(password);
            server.setPassphrase(password);
            return server;
        }

        // The constructor that takes no container is younger than the oldest Maven that is supported.
        @SuppressWarnings("deprecation")
        private String circumstances() {
            request.setSystemProperties(system);
            request.setUserProperties(user);
            request.setLocalRepository(new MavenArtifactRepository(
                    "local", new File(repository).toURI().toString(), new DefaultRepositoryLayout(), null, null));
            Model model = new Model();
            model.setGroupId("com.example");
            model.setArtifactId("app");
            model.setVersion("1");
            model.setPackaging("firmware");
            model.setProperties(project);
            plugin.setGroupId("io.kiln");
            plugin.setArtifactId("kiln-maven-plugin");
            plugin.setVersion("1");
            plugin.setConfiguration(configuration);
            Build build = new Build();
            build.setDirectory("target");
            build.setFinalName("app");
            build.addPlugin(plugin);
            model.setBuild(build);
            MavenProject mavenProject = new MavenProject(model);
            MavenSession session = new MavenSession(
                    null, new DefaultRepositorySystemSession(), request, new DefaultMavenExecutionResult());
            session.setProjects(List.of(mavenProject));
            MojoDescriptor mojo = new MojoDescriptor();
            mojo.setGoal("link");
            mojo.setPluginDescriptor(new PluginDescriptor());
            mojo.getPluginDescriptor().setPlugin(plugin);
            return Circumstances.of(session, mavenProject, new MojoExecution(plugin, "link", "default-link") {
                @Override
                public MojoDescriptor getMojoDescriptor() {
                    return mojo;
                }
            });
        }
    }

    private static String of(Consumer<Told> change) {
        Told told = new Told();
        change.accept(told);
        return told.circumstances();
    }

    private static void assertCounts(Consumer<Told> change) {
        assertThat(of(change)).isNotEqualTo(of(told -> {}));
    }

    private static void assertDoesNotCount(Consumer<Told> change) {
        assertThat(of(change)).isEqualTo(of(told -> {}));
    }

    @Test
    void propertiesCountWhoeverSetsThem() {
        assertCounts(told -> told.user.setProperty("kiln.optimize", "size"));
        assertCounts(told -> told.project.setProperty("kiln.optimize", "size"));
        // MAVEN_OPTS and .mvn/jvm.config set these.
        assertCounts(told -> told.system.setProperty("kiln.optimize", "size"));
        assertCounts(told -> told.system.setProperty("project.build.outputTimestamp", "1"));
        assertCounts(told -> told.system.setProperty("user.dir", "/elsewhere"));
        assertCounts(told -> told.system.setProperty("java.version", "21"));
        assertCounts(told -> told.system.setProperty("env.PATH", "/opt/bin:/usr/bin"));
        assertCounts(told -> told.system.setProperty("env.KILN_HOME", "/opt/kiln"));
        assertThat(of(told -> told.user.setProperty("a", "1\nb=2"))).isNotEqualTo(of(told -> {
            told.user.setProperty("a", "1");
            told.user.setProperty("b", "2");
        }));
    }

    @Test
    void expressionsCountWithTheirValues() {
        Consumer<Told> define = told -> told.element("define", "VARIANT=${env.VARIANT}");
        assertThat(of(define.andThen(told -> told.system.setProperty("env.VARIANT", "a"))))
                .isNotEqualTo(of(define.andThen(told -> told.system.setProperty("env.VARIANT", "b"))));
        Consumer<Told> property = told -> told.user.setProperty("kiln.define", "VARIANT=${env.VARIANT}");
        assertThat(of(property.andThen(told -> told.system.setProperty("env.VARIANT", "a"))))
                .isNotEqualTo(of(property.andThen(told -> told.system.setProperty("env.VARIANT", "b"))));
    }

    @Test
    void theConfigurationCountsAndTheDependenciesOfThePlugin() {
        assertCounts(told -> told.element("optimize", "size"));
        assertThat(of(told -> told.element("define", "A").element("define", "B")))
                .isNotEqualTo(of(told -> told.element("define", "B").element("define", "A")));
        assertCounts(told -> {
            Dependency extension = new Dependency();
            extension.setGroupId("com.example");
            extension.setArtifactId("codegen");
            extension.setVersion("2");
            told.plugin.addDependency(extension);
        });
    }

    @Test
    void settingsAndToolchainsCountByWhereTheyLieAndTheKeysThatTheyName() {
        assertCounts(told -> told.request.setUserSettingsFile(new File("/other.xml")));
        assertCounts(told -> told.request.setGlobalSettingsFile(new File("/other.xml")));
        assertCounts(told -> told.request.setUserToolchainsFile(new File("/other.xml")));
        assertCounts(told -> told.request.setGlobalToolchainsFile(null));
        assertCounts(told -> told.repository = "/tmp/repository");
        assertCounts(told -> told.request.addServer(Told.server("other", "/keys/other.pem", "")));
        assertCounts(told -> told.request.getServers().get(0).setPrivateKey("/keys/new.pem"));
    }

    @Test
    void secretsAreLeftOut() {
        assertDoesNotCount(told -> {
            told.request.getServers().get(0).setPassword("hunter2");
            told.request.getServers().get(0).setPassphrase("hunter2");
            told.request.getServers().get(0).setUsername("me");
        });
        for (String name : List.of("gpg.passphrase", "sonar.token", "my.password", "clientSecret", "api-key")) {
            for (Consumer<Told> secret : List.<Consumer<Told>>of(
                    told -> told.user.setProperty(name, "hunter2"),
                    told -> told.project.setProperty(name, "hunter2"),
                    told -> told.system.setProperty(name, "hunter2"))) {
                assertThat(of(secret)).as(name).doesNotContain("hunter2");
            }
        }
        for (String name : List.of("password", "keyStorePassword", "trustStorePassword")) {
            assertThat(of(told -> told.user.setProperty("kiln.farm." + name, "hunter2")))
                    .doesNotContain("hunter2");
            assertThat(of(told -> told.farm(name, "hunter2"))).doesNotContain("hunter2");
        }
        assertThat(of(told -> told.element("farmPassword", "hunter2"))).doesNotContain("hunter2");
        assertDoesNotCount(told -> told.system.setProperty("env.GITHUB_TOKEN", "hunter2"));
    }

    /** A memory of a board may have any name, and macros any value. */
    @Test
    void whatIsCompiledCountsWhateverItIsCalled() {
        assertThat(of(told -> told.user.setProperty("kiln.memory.secret", "1K")))
                .isNotEqualTo(of(told -> told.user.setProperty("kiln.memory.secret", "2K")));
        assertCounts(told -> told.element("define", "PASSWORD=hunter2"));
    }

    @Test
    void whatDiffersInEveryRunDoesNotCount() {
        assertDoesNotCount(told -> told.system.setProperty("env.SHLVL", "2"));
        assertDoesNotCount(told -> told.system.setProperty("sun.java.command", "verify -o"));
    }
}
