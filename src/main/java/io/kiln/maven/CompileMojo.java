// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Compiles the C project's sources that changed, in parallel.
 *
 * @since 0.1.0
 */
@Mojo(name = "compile", defaultPhase = LifecyclePhase.COMPILE, threadSafe = true)
public final class CompileMojo extends AbstractBuildMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.compile.skip", defaultValue = "false")
    private boolean skipCompile;

    @Override
    boolean isGoalSkipped() {
        return skipCompile;
    }

    @Override
    void run() {
        runUnlessUpToDate("compile", flow -> flow.compile(spec()));
    }
}
