// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.state.VerifyRecord;
import io.kiln.maven.session.MojoLog;
import java.util.List;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Builds everything from the model to a verified image in {@code outputDirectory}; needs no project.
 *
 * @since 0.1.0
 */
@Mojo(name = "build", requiresProject = false, threadSafe = true)
public final class BuildMojo extends AbstractDeviceMojo {
    /**
     * Skips this goal.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.build.skip", defaultValue = "false")
    private boolean skipBuild;

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
        checkBudgets(spec());
    }
}
