// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.diff.DiffStep;
import io.kiln.maven.session.Budgets;
import io.kiln.maven.session.MojoLog;
import java.io.File;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Compares the build with an earlier one: flash, RAM, operators, tensors and answers. Writes {@code kiln/diff.json}, {@code diff.md} for pull
 * requests and {@code diff.html}.
 *
 * @since 0.1.0
 */
@Mojo(name = "diff", requiresProject = false, threadSafe = true)
public final class DiffMojo extends AbstractKilnMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.diff.skip", defaultValue = "false")
    private boolean skipDiff;

    /** Folder of the build, if there is no project of packaging {@code firmware}. */
    @Parameter(property = "kiln.outputDirectory", defaultValue = "kiln-out")
    private File outputDirectory;

    /**
     * The earlier build: its {@code report.json}, a folder with it, or the coordinates {@code group:artifact:version} of a build that attached its
     * reports. The default is the last build in the same output folder.
     */
    @Parameter(property = "kiln.diff.with")
    private String with;

    @Override
    boolean isGoalSkipped() {
        return skipDiff;
    }

    @Override
    boolean isAboutOneModel() {
        return true;
    }

    @Override
    void run() {
        Optional<String> other = Optional.ofNullable(with);
        new DiffStep(new MojoLog(getLog()), lastBuild(outputDirectory))
                .run(other.map(name -> Budgets.report(name, fetcher())), other.orElse("the last build"));
    }
}
