// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.part;

import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Packs a folder with a model, its vectors and its card into the project's artifact: a reproducible zip.
 *
 * @since 0.1.0
 */
@Mojo(name = "pack-model", defaultPhase = LifecyclePhase.PACKAGE, threadSafe = true)
public final class PackModelMojo extends AbstractModelMojo {
    /**
     * Skips this goal.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.pack-model.skip", defaultValue = "false")
    private boolean skipPackModel;

    @Override
    protected boolean isSkipped() {
        return skipPackModel;
    }

    @Override
    protected void work() {
        model().pack(artifact());
        publish(artifact());
    }
}
