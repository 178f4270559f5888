// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.flow.spec.BoardSources;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.state.UnforeseenFailure;
import io.kiln.maven.artifact.MavenArtifacts;
import io.kiln.maven.artifact.ReactorFolders;
import io.kiln.maven.artifact.ReactorFolders.BoardArtifacts;
import io.kiln.maven.artifact.ReactorFolders.ModelArtifacts;
import io.kiln.maven.group.Farm;
import io.kiln.maven.group.Farm.FarmEngine;
import io.kiln.maven.group.GoalParameters;
import io.kiln.maven.group.GroupValues;
import io.kiln.maven.group.ParameterGroup;
import io.kiln.maven.name.UnknownNames;
import io.kiln.maven.session.GnuToolchain;
import io.kiln.maven.session.MojoLog;
import io.kiln.maven.session.PrintableTrace;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import io.kiln.toolchain.compiler.ToolchainEnvironment.ArtifactFetcher;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import javax.inject.Inject;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugin.descriptor.PluginDescriptor;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;
import org.apache.maven.toolchain.MisconfiguredToolchainException;
import org.apache.maven.toolchain.model.ToolchainModel;
import org.codehaus.plexus.configuration.PlexusConfiguration;
import org.eclipse.aether.RepositorySystem;

/** Common to every goal: skipping, the current project, and errors without a stack trace. */
abstract class AbstractKilnMojo extends AbstractMojo {
    /** Skips every goal of Kiln. */
    @Parameter(property = "kiln.skip", defaultValue = "false")
    private boolean skip;

    /** The project, or Maven's placeholder if there is none. */
    @Inject
    private MavenProject project;

    @Inject
    private MavenSession session;

    /** This execution, which has the goal's name. */
    @Inject
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

    /** Refuses names that no goal takes. */
    void checkNames() {
        UnknownNames.check(session, project, execution);
        UnknownNames.unread(session, project, execution).forEach(getLog()::warn);
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
        checkNames();
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

    /** This execution of the goal. */
    final MojoExecution execution() {
        return execution;
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

    /** Name of an image's files in a folder that several builds may share. */
    static String base(List<ModelSource> sources) {
        String names = sources.stream().map(ModelSource::name).collect(Collectors.joining("-"));
        return names.isEmpty() ? "default" : names;
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

    /** What Maven knows of this plugin. */
    final PluginDescriptor descriptor() {
        return execution.getMojoDescriptor().getPluginDescriptor();
    }

    /** What the user has set for this goal. */
    final GoalParameters parameters() {
        return GoalParameters.of(session, project, execution);
    }

    /**
     * The values of a group of parameters.
     *
     * @param given its XML element, null if it is not set
     */
    final GroupValues values(ParameterGroup group, PlexusConfiguration given) {
        return parameters().of(group, Optional.ofNullable(given));
    }

    /**
     * The farm that runs images, and this computer's part in it.
     *
     * @param farm the element of {@link Farm#GROUP}, null if it is not set
     * @param home {@code kiln.home}, likewise
     */
    final Farm farm(PlexusConfiguration farm, File home) {
        return new Farm(
                values(Farm.GROUP, farm),
                new FarmEngine(repositories, session.getRepositorySession(), project),
                homeFolder(home),
                new Farm.Sender(project.getArtifactId(), execution.getGoal()));
    }

    /**
     * Finds models by files and by coordinates.
     *
     * @param home as above
     */
    final ModelArtifacts modelArtifacts(File home) {
        return new ModelArtifacts(session.getProjects(), fetcher(), homeFolder(home));
    }

    /**
     * The boards of artifacts: those of dependencies, and the one that a board's coordinates name.
     *
     * @param trusted {@code kiln.trustBoard}, null if it is not set
     */
    final BoardSources boardSources(BoardArtifacts artifacts, String trusted) {
        return artifacts.fetch(
                project.getDependencies(),
                trusted == null ? "" : trusted,
                new ReactorFolders(ReactorFolders.BOARDS, session.getProjects(), fetcher()));
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
