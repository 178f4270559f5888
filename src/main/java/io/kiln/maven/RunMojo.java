// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import java.time.Duration;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Builds what is not built yet, boots the image and shows its console.
 *
 * @since 0.1.0
 */
@Mojo(name = "run", requiresProject = false, threadSafe = true)
public final class RunMojo extends AbstractByHandMojo {
    /**
     * Skips this goal.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.run.skip", defaultValue = "false")
    private boolean skipRun;

    /**
     * Seconds until an image that does not end by itself is stopped.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.run.timeout", defaultValue = "10")
    private int timeout;

    @Override
    boolean isGoalSkipped() {
        return skipRun;
    }

    @Override
    void run() {
        flow().run(spec(), Duration.ofSeconds(timeout));
    }
}
