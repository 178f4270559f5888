// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import java.io.File;
import java.util.List;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Makes something else than firmware of the models: a shared library {@code libMODEL.so} for this computer, which TVM's {@code load_module} and
 * Java programs load, or a library of C sources in the form of another build system, with an example that proves its answers.
 *
 * @since 0.1.0
 */
@Mojo(name = "export", requiresProject = false, threadSafe = true)
public final class ExportMojo extends AbstractBuildMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.export.skip", defaultValue = "false")
    private boolean skipExport;

    /**
     * What is made: {@code library} for this computer, or C sources for {@code c} (a makefile), {@code cmake}, {@code zephyr}, {@code esp-idf},
     * {@code arduino}, {@code platformio} or {@code cmsis-pack}.
     */
    @Parameter(property = "kiln.export", defaultValue = "library")
    private String export;

    /** Whether the library carries the model's artifacts instead of modules. Kiln reads them; TVM's own loader does not know them. */
    @Parameter(property = "kiln.export.artifacts", defaultValue = "false")
    private boolean exportArtifacts;

    /** Version of a library of C sources, such as {@code 1.0.0}; by default that of its models, {@code kiln.modelVersion}, or {@code 0.0.0}. */
    @Parameter(property = "kiln.export.version", defaultValue = "")
    private String exportVersion;

    /** Output folder, if this is no project of packaging {@code firmware}. */
    @Parameter(property = "kiln.outputDirectory", defaultValue = "kiln-out")
    private File outputDirectory;

    @Override
    boolean isGoalSkipped() {
        return skipExport;
    }

    @Override
    boolean isAboutOneModel() {
        return true;
    }

    @Override
    Layout layout(List<ModelSource> sources) {
        return byHand(outputDirectory, sources);
    }

    @Override
    void run() {
        flow().export(spec(), export, exportVersion == null ? "" : exportVersion, exportArtifacts);
    }
}
