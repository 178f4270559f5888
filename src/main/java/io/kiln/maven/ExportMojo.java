// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Makes something else than firmware of the models: a shared library {@code libMODEL.so} for this computer, which TVM's {@code load_module} and
 * Java programs load.
 *
 * @since 0.1.0
 */
@Mojo(name = "export", requiresProject = false, threadSafe = true)
public final class ExportMojo extends AbstractByHandMojo {
    /**
     * Skips this goal.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.export.skip", defaultValue = "false")
    private boolean skipExport;

    /**
     * What is made: {@code library}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.export", defaultValue = "library")
    private String export;

    /**
     * Whether the library carries the model's artifacts instead of modules. Kiln reads them; TVM's own loader does not know them.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.export.artifacts", defaultValue = "false")
    private boolean exportArtifacts;

    @Override
    boolean isGoalSkipped() {
        return skipExport;
    }

    @Override
    void run() {
        flow().export(spec(), export, exportArtifacts);
    }
}
