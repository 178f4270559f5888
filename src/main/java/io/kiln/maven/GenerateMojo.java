// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Compiles the model to C and a Model Library Format archive, in {@code target/generated-sources/kiln}.
 *
 * @since 0.1.0
 */
@Mojo(name = "generate", defaultPhase = LifecyclePhase.GENERATE_SOURCES, threadSafe = true)
public final class GenerateMojo extends AbstractBuildMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.generate.skip", defaultValue = "false")
    private boolean skipGenerate;

    @Override
    boolean isGoalSkipped() {
        return skipGenerate;
    }

    @Override
    void run() {
        runUnlessUpToDate("generate", flow -> flow.generate(spec(), isVerified()));
    }

    private boolean isVerified() {
        return parameters()
                .property("kiln.verify.skip")
                .filter(Boolean::parseBoolean)
                .isEmpty();
    }
}
