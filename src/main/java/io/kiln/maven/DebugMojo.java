// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import java.io.File;
import java.util.List;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Builds what is out of date, writes configurations for gdb, Visual Studio Code and CLion into {@code target/kiln/debug} for
 * the probe and for QEMU, and prints how to use them.
 *
 * @since 0.1.0
 */
@Mojo(name = "debug", requiresProject = false, threadSafe = true)
public final class DebugMojo extends AbstractBuildMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.debug.skip", defaultValue = "false")
    private boolean skipDebug;

    /** The probe: a serial number, {@code usb:BUS-PORT} or {@code tcp:HOST:PORT}. If not set, the only one connected. */
    @Parameter(property = "kiln.probe")
    private String probe;

    /** OpenOCD: a path, or a name on the PATH. */
    @Parameter(property = "kiln.openocd", defaultValue = "openocd")
    private String openocd;

    /** Output folder, if this is no project of packaging {@code firmware}. */
    @Parameter(property = "kiln.outputDirectory", defaultValue = "kiln-out")
    private File outputDirectory;

    @Override
    boolean isGoalSkipped() {
        return skipDebug;
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
        flow().debug(spec(), openocd, Optional.ofNullable(probe));
    }
}
