// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.maven.group.Device;
import io.kiln.maven.group.Mlperf;
import java.io.File;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Measures the image of the last build, which needs {@code kiln.application=mlperf-tiny}, as a runner of MLPerf Tiny does: accuracy, and inferences
 * per second. Writes {@code mlperf.json} and what a submission needs.
 *
 * @since 0.1.0
 */
@Mojo(name = "mlperf", requiresProject = false, threadSafe = true)
public final class MlperfMojo extends AbstractBoardMojo {
    /** Folder of the build, if there is no project of packaging {@code firmware}. */
    @Parameter(property = "kiln.outputDirectory", defaultValue = "kiln-out")
    private File outputDirectory;

    @Override
    boolean isGoalSkipped() {
        return Mlperf.isSkipped(values(Mlperf.MLPERF, null));
    }

    @Override
    boolean isAboutOneModel() {
        return true;
    }

    @Override
    void run() {
        boardFlow()
                .mlperf(
                        boardSpec(Optional.empty()).board(),
                        onlyBuild(outputDirectory),
                        Mlperf.spec(values(Mlperf.MLPERF, null), Device.console(values(Device.MONITOR, null))));
    }
}
