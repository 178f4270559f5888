// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.BoardFlow;
import io.kiln.maven.session.MojoLog;
import io.kiln.toolchain.pack.Packs.PackSource;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Lists the devices of CMSIS-Packs.
 *
 * @since 0.1.0
 */
@Mojo(name = "devices", requiresProject = false, threadSafe = true)
public final class DevicesMojo extends AbstractKilnMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.devices.skip", defaultValue = "false")
    private boolean skipDevices;

    /** A CMSIS-Pack: a {@code .pack}, a {@code .pdsc}, a folder of such, or coordinates. */
    @Parameter(property = "kiln.pack", required = true)
    private String pack;

    /** The beginning of a device's name, with {@code *} for anything. */
    @Parameter(property = "kiln.device", defaultValue = "")
    private String device;

    @Override
    boolean isGoalSkipped() {
        return skipDevices;
    }

    @Override
    void run() {
        BoardFlow.devices(
                new MojoLog(getLog()), PackSource.of(fetcher()).find(pack, folder()), device == null ? "" : device);
    }
}
