// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.flow.spec.BoardSources;
import io.kiln.maven.artifact.ReactorFolders.BoardArtifacts;
import io.kiln.toolchain.compiler.ToolchainEnvironment.ArtifactFetcher;
import java.nio.file.Path;
import java.util.List;
import org.apache.maven.model.Dependency;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BoardArtifactsTest {
    private static final ArtifactFetcher FETCHER =
            (group, artifact, version, classifier, extension) -> Path.of(group, artifact, version + "." + extension);

    @Test
    void coordinatesAndDependenciesAreFetchedEachOnce() {
        BoardArtifacts artifacts = new BoardArtifacts("com.acme:boards:1.2.0:sensor-v3");
        assertThat(artifacts.id()).isEqualTo("sensor-v3");
        BoardSources sources = artifacts.fetch(
                List.of(
                        dependency("boards", "1.2.0", "board-profile"),
                        dependency("more", "2", "board-profile"),
                        dependency("library", "1", "jar")),
                " com.acme:boards:1.2.0:sensor-v3, com.acme:more ",
                FETCHER);
        assertThat(sources.archives())
                .containsExactly(
                        new BoardSources.Archive(Path.of("com.acme", "boards", "1.2.0.zip"), "com.acme:boards:1.2.0"),
                        new BoardSources.Archive(Path.of("com.acme", "more", "2.zip"), "com.acme:more:2"));
        assertThat(sources.trusted()).containsExactlyInAnyOrder("com.acme:boards:1.2.0:sensor-v3", "com.acme:more");
    }

    @Test
    void anIdAloneFetchesNothing() {
        BoardArtifacts artifacts = new BoardArtifacts("mps2-an386");
        assertThat(artifacts.id()).isEqualTo("mps2-an386");
        BoardSources sources = artifacts.fetch(List.of(), "", FETCHER);
        assertThat(sources.archives()).isEmpty();
        assertThat(sources.trusted()).isEmpty();
        assertThat(sources.packs().find("com.acme:dfp:1.0", Path.of("")))
                .isEqualTo(Path.of("com.acme", "dfp", "1.0.pack"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a:b", "com.acme:boards:sensor", "a:b:c:", "a:b:c:d:e"})
    void whatIsNeitherIsRefused(String board) {
        assertThatThrownBy(() -> new BoardArtifacts(board))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("not a valid board");
    }

    private static Dependency dependency(String artifact, String version, String type) {
        Dependency dependency = new Dependency();
        dependency.setGroupId("com.acme");
        dependency.setArtifactId(artifact);
        dependency.setVersion(version);
        dependency.setType(type);
        return dependency;
    }
}
