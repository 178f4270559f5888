// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.state.VerifyRecord;
import io.kiln.maven.session.MojoLog;
import java.util.Map;
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
public final class VerifyMojo extends AbstractConsoleMojo {
    /**
     * Skips this goal.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.verify.skip", defaultValue = "false")
    private boolean skipVerify;

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
        checkBudgets(spec(), budgets(budget));
    }
}
