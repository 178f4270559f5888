// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Assembles C runtime, board support, generated C and {@code src/main/c} as a C project in {@code target/firmware}.
 *
 * @since 0.1.0
 */
@Mojo(name = "assemble", defaultPhase = LifecyclePhase.PROCESS_SOURCES, threadSafe = true)
public final class AssembleMojo extends AbstractBuildMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.assemble.skip", defaultValue = "false")
    private boolean skipAssemble;

    @Override
    boolean isGoalSkipped() {
        return skipAssemble;
    }

    @Override
    void run() {
        runUnlessUpToDate("assemble", flow -> flow.assemble(spec()));
    }
}
