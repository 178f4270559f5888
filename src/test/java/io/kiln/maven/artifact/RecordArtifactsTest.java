// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.artifact;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.maven.artifact.ReactorFolders.RecordArtifacts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.maven.artifact.DefaultArtifact;
import org.apache.maven.artifact.handler.DefaultArtifactHandler;
import org.apache.maven.model.Dependency;
import org.apache.maven.project.MavenProject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tuning records of repositories, and of modules of the same build before and after they are packaged. */
class RecordArtifactsTest {
    @TempDir
    private Path folder;

    private static Dependency dependency(String artifact, String type) {
        Dependency dependency = new Dependency();
        dependency.setGroupId("com.acme");
        dependency.setArtifactId(artifact);
        dependency.setVersion("1");
        dependency.setType(type);
        return dependency;
    }

    private MavenProject module(String artifact) {
        MavenProject module = new MavenProject();
        module.setGroupId("com.acme");
        module.setArtifactId(artifact);
        module.setVersion("1");
        module.setPackaging("tuning-records");
        module.setFile(folder.resolve("pom.xml").toFile());
        module.setArtifact(new DefaultArtifact(
                "com.acme", artifact, "1", null, "tuning-records", "", new DefaultArtifactHandler("tuning-records")));
        return module;
    }

    private static List<Path> fetch(List<MavenProject> modules) {
        return RecordArtifacts.fetch(
                List.of(
                        dependency("elsewhere", "tuning-records"),
                        dependency("code", "jar"),
                        dependency("here", "tuning-records")),
                modules,
                (group, artifact, version, classifier, extension) ->
                        Path.of(group, artifact, version + "." + extension));
    }

    @Test
    void modulesComeBeforeRepositories() throws Exception {
        Path elsewhere = Path.of("com.acme", "elsewhere", "1.log");
        assertThat(fetch(List.of())).containsExactly(elsewhere, Path.of("com.acme", "here", "1.log"));
        MavenProject module = module("here");
        assertThat(fetch(List.of(module)))
                .containsExactly(
                        elsewhere, folder.resolve("src").resolve("main").resolve("tuning"));
        Path log = Files.createFile(folder.resolve("here-1.log"));
        module.getArtifact().setFile(log.toFile());
        assertThat(fetch(List.of(module))).containsExactly(elsewhere, log);
    }
}
