// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.artifact;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.maven.artifact.ReactorFolders.ModelArtifacts;
import io.kiln.toolchain.compiler.ToolchainEnvironment.ArtifactFetcher;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.maven.artifact.DefaultArtifact;
import org.apache.maven.artifact.handler.DefaultArtifactHandler;
import org.apache.maven.model.Build;
import org.apache.maven.model.Dependency;
import org.apache.maven.model.Model;
import org.apache.maven.project.MavenProject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A model's name leads to a file, to a module of this build, or to a repository. */
class ModelArtifactsTest {
    private static final Path ELSEWHERE = Path.of("elsewhere.tar");
    private static final ArtifactFetcher OTHERS = (group, artifact, version, classifier, extension) -> {
        assertThat(List.of(group, artifact, version, classifier, extension))
                .containsExactly("com.acme", "fw", "2", "mlf", "tar");
        return ELSEWHERE;
    };

    @TempDir
    private Path folder;

    private ModelArtifacts artifacts(MavenProject... modules) {
        return new ModelArtifacts(List.of(modules), OTHERS, folder.resolve("home"));
    }

    @Test
    void aPathIsAFile() {
        for (String path : List.of("m.tflite", "src/models/m.tflite", "C:\\models\\m.tflite", "/tmp/m.tflite")) {
            assertThat(artifacts().named(path, folder).file()).isEqualTo(folder.resolve(path));
        }
    }

    @Test
    void aModuleOfThisBuildGivesItsFolderBeforeItIsPackaged() throws IOException {
        Path models = Files.createDirectories(folder.resolve("src/main/model"));
        Files.writeString(models.resolve("model.yaml"), "schema: 1\ntitle: x\nlicence: MIT\n");
        Files.writeString(models.resolve("a.tflite"), "x");
        MavenProject module = module("keywords", "model");
        assertThat(artifacts(module).named("com.acme:keywords:1", folder).file())
                .isEqualTo(models.resolve("a.tflite"));
        assertThat(artifacts(module)
                        .named("com.acme:keywords:1:a.tflite", folder)
                        .file())
                .isEqualTo(models.resolve("a.tflite"));

        Dependency dependency = new Dependency();
        dependency.setGroupId("com.acme");
        dependency.setArtifactId("keywords");
        dependency.setVersion("1");
        dependency.setType("model");
        assertThat(artifacts(module).ofDependency(List.of(dependency, new Dependency())))
                .isPresent();
        assertThat(artifacts(module).ofDependency(List.of(dependency, dependency)))
                .isEmpty();
        assertThat(artifacts(module).ofDependency(List.of())).isEmpty();
    }

    @Test
    void anArchiveComesFromTheFirmwareModuleOrARepository() throws IOException {
        MavenProject module = module("fw", "firmware");
        module.getBuild().setDirectory(folder.resolve("target").toString());
        assertThat(artifacts(module).named("com.acme:fw:1:mlf", folder).file())
                .isEqualTo(folder.resolve("target/generated-sources/kiln/model-mlf.tar"));
        DefaultArtifact attached =
                new DefaultArtifact("com.acme", "fw", "1", null, "tar", "mlf", new DefaultArtifactHandler("tar"));
        attached.setFile(Files.createFile(folder.resolve("fw-mlf.tar")).toFile());
        module.addAttachedArtifact(attached);
        assertThat(artifacts(module).named("com.acme:fw:1:mlf", folder).file()).isEqualTo(folder.resolve("fw-mlf.tar"));
        assertThat(artifacts(module).named("com.acme:fw:2:mlf", folder).file()).isEqualTo(ELSEWHERE);
    }

    private MavenProject module(String artifact, String packaging) {
        Model model = new Model();
        model.setGroupId("com.acme");
        model.setArtifactId(artifact);
        model.setVersion("1");
        model.setPackaging(packaging);
        model.setBuild(new Build());
        MavenProject module = new MavenProject(model);
        module.setFile(folder.resolve("pom.xml").toFile());
        module.setArtifact(
                new DefaultArtifact("com.acme", artifact, "1", null, packaging, null, new DefaultArtifactHandler()));
        return module;
    }
}
