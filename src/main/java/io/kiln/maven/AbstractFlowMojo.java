// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.BoardFlow;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BoardSources;
import io.kiln.maven.artifact.BoardArtifacts;
import io.kiln.maven.artifact.ModelArtifacts;
import io.kiln.maven.artifact.ReactorFolders;
import io.kiln.maven.session.MojoLog;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.io.File;
import java.nio.file.Path;
import org.apache.maven.plugins.annotations.Parameter;

/** A goal that passes repositories, toolchains.xml and the log from Maven to the flow. */
abstract class AbstractFlowMojo extends AbstractKilnMojo {
    /**
     * Folder of unpacked toolchains and of objects of sources that many firmwares have, shared by all builds. If not set, the environment's {@code KILN_HOME}, or
     * {@code kiln} beside the local repository.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.home")
    private File home;

    /** The flow for this session and project. */
    final Flow flow() {
        return new Flow(new MojoLog(getLog()), environment());
    }

    /** The flow of boards for this session and project. */
    final BoardFlow boardFlow() {
        return new BoardFlow(new MojoLog(getLog()), environment());
    }

    /** Where toolchains come from. */
    final ToolchainEnvironment environment() {
        return environment(home);
    }

    /** Finds models by files and by coordinates. */
    final ModelArtifacts modelArtifacts() {
        return new ModelArtifacts(session().getProjects(), fetcher(), homeFolder());
    }

    /**
     * The boards of artifacts: those of dependencies, and the one that a board's coordinates name.
     *
     * @param trusted {@code kiln.trustBoard}, null if it is not set
     */
    final BoardSources boardSources(BoardArtifacts artifacts, String trusted) {
        return artifacts.fetch(
                project().getDependencies(),
                trusted == null ? "" : trusted,
                new ReactorFolders(ReactorFolders.BOARDS, session().getProjects(), fetcher()));
    }

    /** Folder of what all builds share. */
    final Path homeFolder() {
        return homeFolder(home);
    }
}
