// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.spec.DeviceSpec.MonitorSpec;
import io.kiln.maven.group.Device;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.codehaus.plexus.configuration.PlexusConfiguration;

/**
 * Shows the output of the board's serial console. The port is found by the USB ids of the board's console; if several
 * match, the goal fails and lists them.
 *
 * @since 0.1.0
 */
@Mojo(name = "monitor", requiresProject = false, threadSafe = true)
public final class MonitorMojo extends AbstractBoardMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.monitor.skip", defaultValue = "false")
    private boolean skipMonitor;

    /** Folder of the build, if there is no project of packaging {@code firmware}. */
    @Parameter(property = "kiln.outputDirectory", defaultValue = "kiln-out")
    private File outputDirectory;

    /** What ends the goal: a text that appears, or a time such as {@code 10s}. If not set, Ctrl-C. */
    @Parameter(property = "kiln.monitor.until")
    private String until;

    /** Seconds within which the text of {@code until} must appear; otherwise the goal fails. */
    @Parameter(property = "kiln.monitor.timeout", defaultValue = "60")
    private int timeout;

    /** The board's console: elements {@code port}, {@code serial} and {@code baud}, or properties {@code kiln.monitor.NAME}. */
    @Parameter
    private PlexusConfiguration monitor;

    @Override
    boolean isGoalSkipped() {
        return skipMonitor;
    }

    @Override
    boolean isAboutOneModel() {
        return true;
    }

    @Override
    void run() {
        MonitorSpec watch = new MonitorSpec(
                Device.console(values(Device.MONITOR, monitor)),
                Optional.ofNullable(until),
                Duration.ofSeconds(timeout));
        Path image = onlyBuild(outputDirectory).image("elf"); // for the names of functions
        boardFlow().monitor(boardSpec(Optional.empty()).board(), image, watch);
    }
}
