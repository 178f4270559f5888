// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.model.SharedModel.ModelFolder;
import io.kiln.maven.session.MojoLog;
import java.io.File;
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
public final class CheckModelMojo extends AbstractKilnMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.check-model.skip", defaultValue = "false")
    private boolean skipCheckModel;

    /** The folder with the model, its vectors and its card {@code model.yaml}. */
    @Parameter(property = "kiln.modelDirectory", defaultValue = "${project.basedir}/src/main/model")
    private File modelDirectory;

    @Override
    boolean isGoalSkipped() {
        return skipCheckModel;
    }

    @Override
    void run() {
        new ModelFolder(modelDirectory.toPath(), new MojoLog(getLog())).check();
    }
}
