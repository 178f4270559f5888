// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Runs the image in the emulator and the reference interpreter side by side, operator by operator, and names the first operator whose output
 * differs, with index, expected and actual value. Custom operators are compared with the C that their {@code reference} names. It needs {@code kiln.executor=graph} and {@code kiln.application=rpc}.
 *
 * @since 0.1.0
 */
@Mojo(name = "compare-layers", requiresProject = false, threadSafe = true)
public final class CompareLayersMojo extends AbstractByHandMojo {
    /**
     * Skips this goal.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.compare-layers.skip", defaultValue = "false")
    private boolean skipCompareLayers;

    @Override
    boolean isGoalSkipped() {
        return skipCompareLayers;
    }

    @Override
    void run() {
        flow().compareLayers(spec());
    }
}
