// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.state.VerifyRecord;
import io.kiln.maven.session.MojoLog;
import java.util.List;
import java.util.Map;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Builds everything from the model to a verified image in {@code outputDirectory}; needs no project.
 *
 * @since 0.1.0
 */
@Mojo(name = "build", requiresProject = false, threadSafe = true)
public final class BuildMojo extends AbstractConsoleMojo {
    /**
     * Skips this goal.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.build.skip", defaultValue = "false")
    private boolean skipBuild;

    /**
     * The most that a build may take: elements {@code flash}, {@code ram}, {@code instructions} and {@code cycles}, each a number such as {@code 64K}
     * or a share of growth such as {@code +2%}, and {@code baseline}, the build that shares refer to, named as in {@code kiln.diff.with}; or properties
     * such as {@code kiln.budget.flash}. Instructions and cycles are counted by {@code kiln:verify}.
     *
     * @since 0.1.0
     */
    @Parameter
    private Map<String, String> budget;

    @Override
    boolean isGoalSkipped() {
        return skipBuild;
    }

    @Override
    boolean isApart() {
        return true;
    }

    @Override
    void run() {
        VerifyRecord.keep(
                layout(List.of()),
                new MojoLog(getLog()),
                "kiln:build",
                record -> flow().build(spec(), deviceSpec(), record));
        checkBudgets(spec(), budgets(budget));
    }
}
