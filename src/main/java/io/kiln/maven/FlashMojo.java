// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.DeviceSpec.FlashSpec;
import io.kiln.maven.group.Device;
import io.kiln.maven.session.Upload;
import java.io.File;
import java.util.List;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.codehaus.plexus.configuration.PlexusConfiguration;

/**
 * Writes the image to the board with OpenOCD or another program, reads it back and starts it; adds to {@code target/kiln/flash.json}.
 * Called by hand, it first builds what is out of date.
 *
 * @since 0.1.0
 */
@Mojo(name = "flash", defaultPhase = LifecyclePhase.DEPLOY, requiresProject = false, threadSafe = true)
public final class FlashMojo extends AbstractBuildMojo {
    /**
     * Flashing: elements {@code skip}, {@code runner}, {@code timeout}, {@code preverify}, {@code only}, {@code log}, {@code allowRpc}, or {@code
     * kiln.flash.NAME}.
     */
    @Parameter
    private PlexusConfiguration flash;

    /**
     * The probes: a serial number, {@code usb:BUS-PORT} or {@code tcp:HOST:PORT} (a server that speaks remote_bitbang),
     * several separated by commas, or {@code all}. If not set, the only one connected. Virtual boards may have any
     * name; {@code all} means those that were flashed before.
     */
    @Parameter(property = "kiln.probe")
    private String probe;

    /**
     * Faults to inject into virtual boards, to test how a CI set-up reacts to them: {@code [BOARD/]FAULT}, separated by
     * commas. Faults: {@code wrong-tap-id:ID}, {@code wrong-chip-id:ID}, {@code write-error:ADDRESS}, {@code
     * protected-sector:SECTOR}, {@code read-protected}, {@code flipped-bit:ADDRESS:BIT}, {@code dropped:BYTES}, {@code
     * silent:BYTES}, {@code power-lost:BYTES}, {@code slow:MILLISECONDS}. Refused for any other board.
     */
    @Parameter(property = "kiln.probe.faults")
    private String faults;

    /** OpenOCD: a path, or a name on the PATH. */
    @Parameter(property = "kiln.openocd", defaultValue = "openocd")
    private String openocd;

    /** Output folder, if this is no project of packaging {@code firmware}. */
    @Parameter(property = "kiln.outputDirectory", defaultValue = "kiln-out")
    private File outputDirectory;

    @Override
    boolean isGoalSkipped() {
        return Device.isFlashSkipped(values(Device.FLASH, flash));
    }

    /** Maven's upload follows, whether or not anything is flashed. */
    @Override
    void prepare() {
        if (isPartOfLifecycle()) {
            new Upload(project(), session()).leaveOutIfNothingSaysWhereTo(getLog());
        }
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
        FlashSpec flashing = flashing(flash, probe, openocd, faults);
        if (isPartOfLifecycle()) {
            flow().flash(spec(), flashing);
        } else {
            flow().buildAndFlash(spec(), flashing);
        }
    }
}
