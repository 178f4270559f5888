// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.FlashSpec;
import java.io.File;
import java.time.Duration;
import java.util.Optional;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Writes the image to the board with OpenOCD, reads it back and starts it; adds to {@code target/kiln/flash.json}. Called by hand
 * it builds first what is not built yet.
 *
 * @since 0.1.0
 */
@Mojo(name = "flash", defaultPhase = LifecyclePhase.DEPLOY, requiresProject = false, threadSafe = true)
public final class FlashMojo extends AbstractByHandMojo {
    /**
     * Skips this goal.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.flash.skip", defaultValue = "false")
    private boolean skipFlash;

    /**
     * The probes: a serial number, {@code usb:<bus>-<port>} or {@code tcp:<host>:<port>} (a server that speaks remote_bitbang),
     * several separated by commas, or {@code all}. If not set, the only one that is plugged in.
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

    /**
     * Seconds until a device that is not done is given up.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.flash.timeout", defaultValue = "180")
    private int timeout;

    /**
     * Whether a device that holds the image already is left alone.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.flash.preverify", defaultValue = "true")
    private boolean preverify;

    /**
     * A file that gets a line of JSON for each device flashed; several projects may share it.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.flash.log")
    private File log;

    @Override
    boolean isGoalSkipped() {
        return skipFlash;
    }

    /** Maven's upload comes next, whether or not anything is flashed. */
    @Override
    void prepare() {
        if (isPartOfLifecycle()) {
            new Upload(project(), session()).leaveOutIfNothingSaysWhereTo(getLog());
        }
    }

    @Override
    void run() {
        FlashSpec flash = new FlashSpec(
                Optional.ofNullable(probe),
                openocd,
                Duration.ofSeconds(Math.max(1, timeout)),
                preverify,
                Optional.ofNullable(log).map(File::toPath),
                coordinates(),
                session().getRequest().isInteractiveMode() && Terminal.isWatched());
        if (isPartOfLifecycle()) {
            flow().flash(spec(), flash);
        } else {
            flow().buildAndFlash(spec(), flash);
        }
    }

    private boolean isPartOfLifecycle() {
        return execution().getSource() == MojoExecution.Source.LIFECYCLE;
    }

    private Optional<String> coordinates() {
        return hasProject()
                ? Optional.of(project().getGroupId() + ":" + project().getArtifactId() + ":"
                        + project().getVersion())
                : Optional.empty();
    }
}
