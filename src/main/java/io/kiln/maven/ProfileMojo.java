// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Counts the instructions of one inference, whole and per operator; writes {@code kiln/profile.json}.
 *
 * @since 0.1.0
 */
@Mojo(name = "profile", requiresProject = false, threadSafe = true)
public final class ProfileMojo extends AbstractByHandMojo {
    /**
     * Skips this goal.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.profile.skip", defaultValue = "false")
    private boolean skipProfile;

    @Override
    boolean isGoalSkipped() {
        return skipProfile;
    }

    @Override
    void run() {
        flow().profile(spec());
    }
}
