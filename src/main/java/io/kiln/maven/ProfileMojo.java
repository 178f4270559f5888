// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.base.ParameterValue;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.DeviceSpec.MeasuredOn;
import java.io.File;
import java.util.List;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.codehaus.plexus.configuration.PlexusConfiguration;

/**
 * Counts the instructions of one inference and estimates its cycles, whole and per operator; writes {@code kiln/profile.json}. With
 * {@code kiln.profile.on=board} it flashes the board first and measures the time of one inference there,
 * with {@code kiln.executor=graph} of each operator; writes {@code kiln/trace-NAME.json} for Chrome's viewer of traces, too.
 *
 * @since 0.1.0
 */
@Mojo(name = "profile", requiresProject = false, threadSafe = true)
public final class ProfileMojo extends AbstractBuildMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.profile.skip", defaultValue = "false")
    private boolean skipProfile;

    /**
     * Where an inference is measured: {@code emulator}, or {@code board}, whose image needs {@code kiln.application=rpc} (flashed
     * first, unless {@code kiln.flash.skip} is set).
     */
    @Parameter(property = "kiln.profile.on", defaultValue = "emulator")
    private String on;

    /** Whether images for other goals are measured, too: which of them no other beats in cycles, flash and RAM; in an emulator only. */
    @Parameter(property = "kiln.front", defaultValue = "false")
    private boolean front;

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

    /** The board's console: elements {@code port}, {@code serial} and {@code baud}, or properties {@code kiln.monitor.NAME}. */
    @Parameter
    private PlexusConfiguration monitor;

    /** Output folder, if this is no project of packaging {@code firmware}. */
    @Parameter(property = "kiln.outputDirectory", defaultValue = "kiln-out")
    private File outputDirectory;

    @Override
    boolean isGoalSkipped() {
        return skipProfile;
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
        switch (ParameterValue.of("kiln.profile.on", MeasuredOn.class, on)) {
            case EMULATOR -> {
                if (front) {
                    flow().front(spec());
                } else {
                    flow().profile(spec());
                }
            }
            case BOARD -> flow().profile(spec(), device(flash, probe, openocd, faults, monitor));
        }
    }
}
