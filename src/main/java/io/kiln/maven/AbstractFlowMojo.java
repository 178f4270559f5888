// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.flow.BoardFlow;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BoardSources;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.maven.artifact.BoardArtifacts;
import io.kiln.maven.artifact.FarmEngine;
import io.kiln.maven.artifact.MavenArtifacts;
import io.kiln.maven.artifact.ModelArtifacts;
import io.kiln.maven.artifact.ReactorFolders;
import io.kiln.maven.session.GnuToolchain;
import io.kiln.maven.session.MojoLog;
import io.kiln.toolchain.compiler.ArtifactFetcher;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.inject.Inject;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.toolchain.MisconfiguredToolchainException;
import org.apache.maven.toolchain.model.ToolchainModel;
import org.eclipse.aether.RepositorySystem;

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

    @Inject
    private RepositorySystem repositories;

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
        return new ToolchainEnvironment(homeFolder(), gnuHomes(), fetcher(), new MojoLog(getLog()));
    }

    /** Makes sure that the classes of the engine of farms are there. */
    final void provideFarmEngine() {
        new FarmEngine(repositories, session().getRepositorySession(), project()).provide();
    }

    /** Maven's own resolution. */
    final ArtifactFetcher fetcher() {
        return new MavenArtifacts(repositories, session().getRepositorySession(), project());
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

    /** The folders of the project's own build. */
    final Layout projectLayout() {
        return new Layout(
                folder(),
                Path.of(project().getBuild().getDirectory()),
                project().getBuild().getFinalName());
    }

    /** Whether the project's own {@code target} has an image. */
    final boolean isFirmware() {
        return hasProject() && "firmware".equals(project().getPackaging());
    }

    /**
     * The folders of a goal that is called by hand.
     *
     * @param outputDirectory for everything but a project of packaging {@code firmware}
     * @param base name of the image's files there
     */
    final Layout layout(File outputDirectory, String base) {
        return isFirmware() ? projectLayout() : new Layout(folder(), folder().resolve(outputDirectory.toPath()), base);
    }

    /** Folder of what all builds share. */
    final Path homeFolder() {
        return home == null
                ? ToolchainEnvironment.defaultHome(
                        Path.of(session().getLocalRepository().getBasedir()))
                : home.toPath().toAbsolutePath().normalize();
    }

    /**
     * GNU toolchains of toolchains.xml, read from the request: in a folder without a project no extension is loaded
     * that knows the type.
     */
    private List<Path> gnuHomes() {
        List<Path> homes = new ArrayList<>();
        for (ToolchainModel model : session().getRequest().getToolchains().getOrDefault(GnuToolchain.TYPE, List.of())) {
            try {
                homes.add(GnuToolchain.of(model).folder());
            } catch (MisconfiguredToolchainException e) {
                throw new KilnException(Problem.of(e.getMessage(), ""), e);
            }
        }
        return homes;
    }
}
