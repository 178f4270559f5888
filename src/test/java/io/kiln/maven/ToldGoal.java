// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import java.io.File;
import java.util.List;
import java.util.Properties;
import org.apache.maven.artifact.repository.MavenArtifactRepository;
import org.apache.maven.artifact.repository.layout.DefaultRepositoryLayout;
import org.apache.maven.execution.DefaultMavenExecutionRequest;
import org.apache.maven.execution.DefaultMavenExecutionResult;
import org.apache.maven.execution.MavenExecutionRequest;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.model.Build;
import org.apache.maven.model.Model;
import org.apache.maven.model.Plugin;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.descriptor.MojoDescriptor;
import org.apache.maven.plugin.descriptor.PluginDescriptor;
import org.apache.maven.project.MavenProject;
import org.apache.maven.settings.Server;
import org.codehaus.plexus.util.xml.Xpp3Dom;
import org.eclipse.aether.DefaultRepositorySystemSession;

/** A goal of the lifecycle and what Maven tells it: as usual, until a test changes that. */
public final class ToldGoal {
    private final MavenExecutionRequest request = new DefaultMavenExecutionRequest();
    private final Properties system = request.getSystemProperties();
    private final Properties user = request.getUserProperties();
    private final Xpp3Dom configuration = new Xpp3Dom("configuration");
    private final Plugin plugin = new Plugin();
    private final MavenProject project;

    public ToldGoal() {
        system.setProperty("java.version", "17.0.1");
        system.setProperty("user.dir", "/work");
        system.setProperty("env.PATH", "/usr/bin");
        request.setUserSettingsFile(new File("/home/me/.m2/settings.xml"));
        request.setGlobalSettingsFile(new File("/etc/settings.xml"));
        request.setUserToolchainsFile(new File("/home/me/.m2/toolchains.xml"));
        request.setGlobalToolchainsFile(new File("/etc/toolchains.xml"));
        request.addServer(server("signer", "/keys/signer.pem", "p4ssw0rd"));
        repository("/home/me/.m2/repository");
        plugin.setGroupId("io.kiln");
        plugin.setArtifactId("kiln-maven-plugin");
        plugin.setVersion("1");
        plugin.setConfiguration(configuration);
        Build build = new Build();
        build.setDirectory("target");
        build.setFinalName("app");
        build.addPlugin(plugin);
        Model model = new Model();
        model.setGroupId("com.example");
        model.setArtifactId("app");
        model.setVersion("1");
        model.setPackaging("firmware");
        model.addProperty("kiln.board", "host");
        model.setBuild(build);
        project = new MavenProject(model);
    }

    /** A server of the settings. */
    public static Server server(String id, String key, String password) {
        Server server = new Server();
        server.setId(id);
        server.setPrivateKey(key);
        server.setPassword(password);
        server.setPassphrase(password);
        return server;
    }

    /** Adds an element to the goal's configuration. */
    public ToldGoal element(String name, String value) {
        configuration.addChild(xml(name, value));
        return this;
    }

    /** Adds an element of {@code <farm>}. */
    public ToldGoal farm(String name, String value) {
        Xpp3Dom farm = new Xpp3Dom("farm");
        farm.addChild(xml(name, value));
        configuration.addChild(farm);
        return this;
    }

    private static Xpp3Dom xml(String name, String value) {
        Xpp3Dom element = new Xpp3Dom(name);
        element.setValue(value);
        return element;
    }

    /** Sets the folder of the local repository. */
    public void repository(String folder) {
        request.setLocalRepository(new MavenArtifactRepository(
                "local", new File(folder).toURI().toString(), new DefaultRepositoryLayout(), null, null));
    }

    public MavenExecutionRequest request() {
        return request;
    }

    /** Properties of Java, which {@code MAVEN_OPTS} sets. */
    public Properties system() {
        return system;
    }

    /** Properties of the command line. */
    public Properties user() {
        return user;
    }

    /** Properties of the project. */
    public Properties properties() {
        return project.getProperties();
    }

    public Plugin plugin() {
        return plugin;
    }

    public MavenProject project() {
        return project;
    }

    // Later versions of Maven replace this constructor by one that the oldest supported version lacks.
    @SuppressWarnings("deprecation")
    public MavenSession session() {
        MavenSession session = new MavenSession(
                null, new DefaultRepositorySystemSession(), request, new DefaultMavenExecutionResult());
        session.setProjects(List.of(project));
        return session;
    }

    /** The goal. */
    public MojoExecution execution() {
        PluginDescriptor descriptor = new PluginDescriptor();
        descriptor.setPlugin(plugin);
        descriptor.setGroupId(plugin.getGroupId());
        descriptor.setArtifactId(plugin.getArtifactId());
        descriptor.setVersion(plugin.getVersion());
        MojoDescriptor mojo = new MojoDescriptor();
        mojo.setGoal("link");
        mojo.setPluginDescriptor(descriptor);
        return new MojoExecution(mojo, "default-link");
    }
}
