// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.ImageSpec.RunSpec;
import java.io.File;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Builds what is out of date, boots the image and shows its console.
 *
 * @since 0.1.0
 */
@Mojo(name = "run", requiresProject = false, threadSafe = true)
public final class RunMojo extends AbstractBuildMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.run.skip", defaultValue = "false")
    private boolean skipRun;

    /** Seconds, emulated ones in QEMU, within which the image must end, or print the text of {@code until}; otherwise the goal fails. */
    @Parameter(property = "kiln.run.timeout", defaultValue = "10")
    private int timeout;

    /** A text that the image prints, at which it is stopped and the goal succeeds, for programs that never end. */
    @Parameter(property = "kiln.run.until")
    private String until;

    /** Output folder, if this is no project of packaging {@code firmware}. */
    @Parameter(property = "kiln.outputDirectory", defaultValue = "kiln-out")
    private File outputDirectory;

    @Override
    boolean isGoalSkipped() {
        return skipRun;
    }

    @Override
    boolean isAboutOneModel() {
        return true;
    }

    @Override
    Layout layout(List<ModelSource> sources) {
        return byHand(outputDirectory, sources);
    }

    @Override
    void run() {
        flow().run(spec(), new RunSpec(Duration.ofSeconds(Math.max(1, timeout)), Optional.ofNullable(until)));
    }
}
