// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.state.VerifyRecord;
import io.kiln.maven.session.MojoLog;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Runs the image and compares every output byte with the reference interpreter; writes {@code target/kiln/verify.json}. With
 * {@code kiln.verify.on=board} it flashes the board first and talks to it over its console.
 *
 * @since 0.1.0
 */
@Mojo(name = "verify", defaultPhase = LifecyclePhase.INTEGRATION_TEST, threadSafe = true)
public final class VerifyMojo extends AbstractDeviceMojo {
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

    /** Part of the build in any packaging. */
    @Override
    boolean isApart() {
        return false;
    }

    @Override
    boolean isAboutOneModel() {
        return false;
    }

    @Override
    void run() {
        VerifyRecord.keep(
                projectLayout(),
                new MojoLog(getLog()),
                "kiln:verify",
                record -> flow().verify(spec(), deviceSpec(), record));
        checkBudgets(spec());
    }
}
