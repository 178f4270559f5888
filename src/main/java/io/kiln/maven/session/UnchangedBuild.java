// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import io.kiln.base.Log;
import io.kiln.flow.build.BuildInputs;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.state.UpToDate;
import io.kiln.maven.group.GoalParameters;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
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
 */
public record UnchangedBuild(MavenSession session, MavenProject project, MojoExecution execution, Log log) {
    private static final String SAID = "io.kiln.upToDate";

    /**
     * Runs the goal, unless nothing has changed since it left nothing to do.
     *
     * @param goal whose memory counts
     * @param work runs the goal; is given what has to be told of a build that leaves nothing to do
     */
    public void run(Layout layout, String goal, Consumer<Consumer<ResolvedBuild>> work) {
        UpToDate memory = new UpToDate(layout, goal, GoalParameters.circumstances(session, project, execution));
        if (memory.holds()) {
            if (project.getContextValue(SAID) == null) {
                project.setContextValue(SAID, goal);
                log.info("Up to date: nothing has changed since the last build");
            }
            return;
        }
        try {
            work.accept(build -> memory.keep(inputs(build)));
        } catch (RuntimeException | Error e) {
            memory.forget();
            throw e;
        }
    }

    private Set<Path> inputs(ResolvedBuild build) {
        Set<Path> files = BuildInputs.of(build);
        MavenExecutionRequest request = session.getRequest();
        Stream.of(
                        request.getUserSettingsFile(),
                        request.getGlobalSettingsFile(),
                        request.getUserToolchainsFile(),
                        request.getGlobalToolchainsFile())
                .filter(Objects::nonNull)
                .forEach(file -> files.add(file.toPath()));
        return files;
    }
}
