// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import java.util.Optional;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Builds what is out of date, writes configurations for gdb and Visual Studio Code into {@code target/kiln/debug} for
 * the probe and for QEMU, and prints how to use them.
 *
 * @since 0.1.0
 */
@Mojo(name = "debug", requiresProject = false, threadSafe = true)
public final class DebugMojo extends AbstractByHandMojo {
    /**
     * Skips this goal.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.debug.skip", defaultValue = "false")
    private boolean skipDebug;

    /**
     * The probe: a serial number, {@code usb:BUS-PORT} or {@code tcp:HOST:PORT}. If not set, the only one connected.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.probe")
    private String probe;

    /**
     * OpenOCD: a path, or a name on the PATH.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.openocd", defaultValue = "openocd")
    private String openocd;

    @Override
    boolean isGoalSkipped() {
        return skipDebug;
    }

    @Override
    void run() {
        flow().debug(spec(), openocd, Optional.ofNullable(probe));
    }
}
