// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Runs the image and compares every output byte with the reference interpreter; writes {@code target/kiln/verify.json}.
 *
 * @since 0.1.0
 */
@Mojo(name = "verify", defaultPhase = LifecyclePhase.INTEGRATION_TEST, threadSafe = true)
public final class VerifyMojo extends AbstractFirmwareMojo {
    /**
     * Skips this goal.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.verify.skip", defaultValue = "false")
    private boolean skipVerify;

    @Override
    boolean isGoalSkipped() {
        return skipVerify;
    }

    @Override
    void run() {
        flow().verify(spec());
    }
}
