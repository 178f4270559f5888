// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.artifact;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.toolchain.compiler.ToolchainEnvironment.ArtifactFetcher;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.maven.artifact.DefaultArtifact;
import org.apache.maven.artifact.handler.DefaultArtifactHandler;
import org.apache.maven.model.Build;
import org.apache.maven.model.Model;
import org.apache.maven.model.Plugin;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.util.xml.Xpp3Dom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReactorFoldersTest {
    private static final Path REPOSITORY = Path.of("repository.zip");
    private static final ArtifactFetcher OTHERS = (group, artifact, version, classifier, extension) -> REPOSITORY;

    @TempDir
    Path folder;

    @Test
    void aModuleThatIsNotPackagedGivesItsFolder() {
        MavenProject module = module("board-profile");
        assertThat(fetch(module, "1")).isEqualTo(folder.resolve("src/main/boards"));

        module.getProperties().setProperty("kiln.boardsDirectory", "profiles");
        assertThat(fetch(module, "1")).isEqualTo(folder.resolve("profiles"));

        Plugin plugin = new Plugin();
        plugin.setGroupId("io.kiln");
        plugin.setArtifactId("kiln-maven-plugin");
        Xpp3Dom configuration = new Xpp3Dom("configuration");
        Xpp3Dom directory = new Xpp3Dom("boardsDirectory");
        directory.setValue("configured");
        configuration.addChild(directory);
        plugin.setConfiguration(configuration);
        module.getBuild().addPlugin(plugin);
        module.getBuild().flushPluginMap();
        assertThat(fetch(module, "1")).isEqualTo(folder.resolve("configured"));
    }

    @Test
    void aModuleThatIsPackagedGivesItsFile() throws IOException {
        MavenProject module = module("board-profile");
        Path zip = Files.createFile(folder.resolve("boards.zip"));
        module.getArtifact().setFile(zip.toFile());
        assertThat(fetch(module, "1")).isEqualTo(zip);
        module.getArtifact().setFile(folder.toFile());
        assertThat(fetch(module, "1")).isEqualTo(folder.resolve("src/main/boards"));
    }

    @Test
    void whatNoModuleMakesComesFromElsewhere() {
        assertThat(fetch(module("board-profile"), "2")).isEqualTo(REPOSITORY);
        assertThat(fetch(module("jar"), "1")).isEqualTo(REPOSITORY);
    }

    @Test
    void anEditorsOutputFolderLeadsToTheModule() throws IOException {
        Path output = Files.createDirectories(folder.resolve("target/classes"));
        ArtifactFetcher workspace = (group, artifact, version, classifier, extension) -> output;
        assertThat(new ReactorFolders(ReactorFolders.BOARDS, List.of(), workspace).fetch("g", "a", "1", "", "zip"))
                .isEqualTo(output);
        Files.createFile(folder.resolve("pom.xml"));
        assertThat(new ReactorFolders(ReactorFolders.BOARDS, List.of(), workspace).fetch("g", "a", "1", "", "zip"))
                .isEqualTo(folder.resolve("src/main/boards"));
    }

    private static Path fetch(MavenProject module, String version) {
        return new ReactorFolders(ReactorFolders.BOARDS, List.of(module), OTHERS)
                .fetch("com.acme", "boards", version, "", "zip");
    }

    private MavenProject module(String packaging) {
        Model model = new Model();
        model.setGroupId("com.acme");
        model.setArtifactId("boards");
        model.setVersion("1");
        model.setPackaging(packaging);
        model.setBuild(new Build());
        MavenProject module = new MavenProject(model);
        module.setFile(folder.resolve("pom.xml").toFile());
        module.setArtifact(
                new DefaultArtifact("com.acme", "boards", "1", null, packaging, null, new DefaultArtifactHandler()));
        return module;
    }
}
