// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Checks that board, toolchain and model exist and fit together, before any work is done. A missing file is only
 * logged, because another plugin of the build may create it before {@code kiln:generate}, which fails without it.
 * Called by hand, this goal fails.
 *
 * @since 0.1.0
 */
@Mojo(name = "resolve", defaultPhase = LifecyclePhase.VALIDATE, threadSafe = true)
public final class ResolveMojo extends AbstractBuildMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.resolve.skip", defaultValue = "false")
    private boolean skipResolve;

    @Override
    boolean isGoalSkipped() {
        return skipResolve;
    }

    @Override
    void run() {
        if (isPartOfLifecycle()) {
            // Nothing that kiln:generate has not checked before it left nothing to do.
            runUnlessUpToDate("generate", flow -> flow.resolveAhead(spec()));
        } else {
            flow().resolve(spec());
        }
    }
}
