// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.state.UnforeseenFailure;
import io.kiln.maven.artifact.MavenArtifacts;
import io.kiln.maven.session.GnuToolchain;
import io.kiln.maven.session.MojoLog;
import io.kiln.maven.session.PrintableTrace;
import io.kiln.toolchain.compiler.ArtifactFetcher;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.inject.Inject;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;
import org.apache.maven.toolchain.MisconfiguredToolchainException;
import org.apache.maven.toolchain.model.ToolchainModel;
import org.eclipse.aether.RepositorySystem;

/** Common to every goal: skipping, the current project, and errors without a stack trace. */
abstract class AbstractKilnMojo extends AbstractMojo {
    /**
     * Skips every goal of Kiln.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.skip", defaultValue = "false")
    private boolean skip;

    /** The project, or Maven's placeholder if there is none. */
    @Parameter(defaultValue = "${project}", readonly = true, required = true)
    private MavenProject project;

    /** The running session. */
    @Parameter(defaultValue = "${session}", readonly = true, required = true)
    private MavenSession session;

    /** This execution, which has the goal's name. */
    @Parameter(defaultValue = "${mojoExecution}", readonly = true, required = true)
    private MojoExecution execution;

    @Inject
    private RepositorySystem repositories;

    /** Does the goal's work. */
    abstract void run();

    /** The value of {@code kiln.GOAL.skip}. */
    abstract boolean isGoalSkipped();

    /** Whether the goal is pointless in a project that only has modules. */
    boolean isAboutOneModel() {
        return false;
    }

    /** Runs even if the goal is skipped; does nothing by default. */
    void prepare() {}

    @Override
    public final void execute() throws MojoExecutionException, MojoFailureException {
        try {
            runUnlessSkipped();
        } catch (KilnException e) {
            throw withTrace(new MojoFailureException(e.told()), e);
        } catch (RuntimeException | Error e) {
            throw withTrace(new MojoExecutionException(UnforeseenFailure.told(e).told()), e);
        }
    }

    /**
     * Maven appends the messages of causes to the message, which is complete already; suppressed exceptions show with
     * -e only.
     */
    private static <E extends Exception> E withTrace(E told, Throwable failure) {
        told.addSuppressed(PrintableTrace.of(failure));
        return told;
    }

    private void runUnlessSkipped() {
        prepare();
        if (skip || isGoalSkipped()) {
            String flag = skip ? "kiln.skip" : "kiln." + execution.getGoal() + ".skip";
            getLog().info("Skipped: " + flag + " is set.");
            return;
        }
        if (isAboutOneModel() && !project.getModules().isEmpty()) {
            getLog().info("Skipped: this project only has modules; choose one with -pl <module>.");
            return;
        }
        run();
    }

    /** Whether the goal is bound to a phase, rather than called by hand. */
    final boolean isPartOfLifecycle() {
        return execution.getSource() == MojoExecution.Source.LIFECYCLE;
    }

    final MavenProject project() {
        return project;
    }

    final MavenSession session() {
        return session;
    }

    /** Whether there is a pom.xml. */
    final boolean hasProject() {
        return project.getFile() != null;
    }

    /** The project's folder, or the working folder. */
    final Path folder() {
        return hasProject()
                ? project.getBasedir().toPath()
                : Path.of(session.getExecutionRootDirectory()).toAbsolutePath();
    }

    /** Maven's own resolution. */
    final ArtifactFetcher fetcher() {
        return new MavenArtifacts(repositories, session().getRepositorySession(), project());
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
     * The folders of a build by hand, apart from the project's own {@code target}.
     *
     * @param base name of the image's files
     */
    final Layout apart(File outputDirectory, String base) {
        return new Layout(folder(), folder().resolve(outputDirectory.toPath()), base);
    }

    /** The folders of the project's build, or of the one by hand where it has none. */
    final Layout lastBuild(File outputDirectory) {
        return isFirmware() ? projectLayout() : apart(outputDirectory, "default");
    }

    /**
     * Folder of what all builds share.
     *
     * @param home {@code kiln.home}, null if it is not set
     */
    final Path homeFolder(File home) {
        return home == null
                ? ToolchainEnvironment.defaultHome(
                        Path.of(session.getLocalRepository().getBasedir()))
                : home.toPath().toAbsolutePath().normalize();
    }

    /**
     * Where toolchains come from.
     *
     * @param home as above
     */
    final ToolchainEnvironment environment(File home) {
        return new ToolchainEnvironment(homeFolder(home), gnuHomes(), fetcher(), new MojoLog(getLog()));
    }

    final RepositorySystem repositories() {
        return repositories;
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
                throw new KilnException(Failure.TOOL.problem(e.getMessage(), ""), e);
            }
        }
        return homes;
    }
}
