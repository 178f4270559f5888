// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.part;

import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Checks a model to be shared: its card {@code model.yaml} matches the schema, the model can be read, and its inputs, outputs and vectors are
 * those that the card states.
 *
 * @since 0.1.0
 */
@Mojo(name = "check-model", defaultPhase = LifecyclePhase.COMPILE, threadSafe = true)
public final class CheckModelMojo extends AbstractModelMojo {
    /**
     * Skips this goal.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.check-model.skip", defaultValue = "false")
    private boolean skipCheckModel;

    @Override
    protected boolean isSkipped() {
        return skipCheckModel;
    }

    @Override
    protected void work() {
        model().check();
    }
}
