// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.model.SharedModel.ModelFolder;
import io.kiln.maven.session.MojoLog;
import java.io.File;
import java.nio.file.Path;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Packs a folder with a model, its vectors and its card into the project's artifact: a reproducible zip.
 *
 * @since 0.1.0
 */
@Mojo(name = "pack-model", defaultPhase = LifecyclePhase.PACKAGE, threadSafe = true)
public final class PackModelMojo extends AbstractKilnMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.pack-model.skip", defaultValue = "false")
    private boolean skipPackModel;

    /** The folder with the model, its vectors and its card {@code model.yaml}. */
    @Parameter(property = "kiln.modelDirectory", defaultValue = "${project.basedir}/src/main/model")
    private File modelDirectory;

    @Override
    boolean isGoalSkipped() {
        return skipPackModel;
    }

    @Override
    void run() {
        Path zip = projectLayout().image("zip");
        new ModelFolder(modelDirectory.toPath(), new MojoLog(getLog())).pack(zip);
        project().getArtifact().setFile(zip.toFile());
    }
}
