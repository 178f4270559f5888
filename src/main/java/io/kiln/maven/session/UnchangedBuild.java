// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import io.kiln.base.Log;
import io.kiln.flow.Flow;
import io.kiln.flow.build.BuildInputs;
import io.kiln.flow.diff.DiffStep;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.state.UpToDate;
import io.kiln.maven.group.GoalParameters.Circumstances;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.io.File;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.maven.execution.MavenExecutionRequest;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.project.MavenProject;

/**
 * Leaves out a goal of the lifecycle that would do nothing. The first one that is left out says so for all.
 *
 * @param session the running session
 * @param project the project
 * @param execution the goal
 * @param log gets the line
 * @param environment where toolchains come from
 */
public record UnchangedBuild(
        MavenSession session,
        MavenProject project,
        MojoExecution execution,
        Log log,
        ToolchainEnvironment environment) {
    private static final String SAID = "io.kiln.upToDate";
    private static final Pattern COORDINATES = Pattern.compile("[^:/\\\\]+:[^:/\\\\]+:[^:/\\\\]");

    /**
     * Whether nothing but files tells a change. Artifacts of others may be replaced by newer ones, which only Maven can tell.
     *
     * @param named what the build names, by files or by coordinates; null for what it does not name
     */
    public static boolean canBe(MavenProject project, Stream<String> named) {
        return project.getDependencies().isEmpty()
                && named.noneMatch(
                        text -> text != null && COORDINATES.matcher(text).find());
    }

    /**
     * Runs the goal, unless nothing has changed since it left nothing to do.
     *
     * @param goal whose memory counts
     * @param baseline a build with which this one is compared: a file or a folder
     * @param work runs the goal; is given what has to be told of its work
     */
    public void run(Layout layout, String goal, Optional<String> baseline, Consumer<Flow.Watch> work) {
        String told = Circumstances.of(session, project, execution) + environment.home() + environment.gnuHomes();
        UpToDate memory = new UpToDate(layout, goal, told);
        if (memory.holds()) {
            if (project.getContextValue(SAID) == null) {
                project.setContextValue(SAID, goal);
                log.info("Up to date: nothing has changed since the last build");
            }
            return;
        }
        try {
            work.accept(new Flow.Watch() {
                @Override
                public void begins(Layout same) {
                    memory.begin();
                }

                @Override
                public void settled(Collection<ResolvedBuild> builds) {
                    Set<Path> files = settings();
                    builds.forEach(build -> files.addAll(BuildInputs.of(build, environment.gnuHomes())));
                    baseline.map(Path::of).map(DiffStep::files).ifPresent(files::addAll);
                    memory.keep(files);
                }
            });
        } catch (RuntimeException | Error e) {
            UpToDate.forget(layout);
            throw e;
        }
    }

    private Set<Path> settings() {
        MavenExecutionRequest request = session.getRequest();
        return Stream.of(
                        request.getUserSettingsFile(),
                        request.getGlobalSettingsFile(),
                        request.getUserToolchainsFile(),
                        request.getGlobalToolchainsFile())
                .filter(Objects::nonNull)
                .map(File::toPath)
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
