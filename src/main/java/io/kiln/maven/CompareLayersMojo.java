// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import java.io.File;
import java.util.List;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Runs the image in the emulator and the reference interpreter side by side, operator by operator, and names the first operator whose output
 * differs, with index, expected and actual value. Custom operators are compared with the C that their {@code reference} names. It needs {@code kiln.executor=graph} and {@code kiln.application=rpc}.
 *
 * @since 0.1.0
 */
@Mojo(name = "compare-layers", requiresProject = false, threadSafe = true)
public final class CompareLayersMojo extends AbstractBuildMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.compare-layers.skip", defaultValue = "false")
    private boolean skipCompareLayers;

    /** Output folder, if this is no project of packaging {@code firmware}. */
    @Parameter(property = "kiln.outputDirectory", defaultValue = "kiln-out")
    private File outputDirectory;

    @Override
    boolean isGoalSkipped() {
        return skipCompareLayers;
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
        flow().compareLayers(spec());
    }
}
