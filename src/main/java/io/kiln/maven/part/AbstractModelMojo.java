// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.part;

import io.kiln.flow.model.ModelFolder;
import io.kiln.maven.AbstractPartMojo;
import java.io.File;
import org.apache.maven.plugins.annotations.Parameter;

/** Goals of packaging {@code model}. */
abstract class AbstractModelMojo extends AbstractPartMojo {
    /**
     * The folder with the model, its vectors and its card {@code model.yaml}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.modelDirectory", defaultValue = "${project.basedir}/src/main/model")
    private File modelDirectory;

    final ModelFolder model() {
        return new ModelFolder(modelDirectory.toPath(), log());
    }
}
