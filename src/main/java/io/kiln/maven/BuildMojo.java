// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.Flow;
import io.kiln.flow.diff.DiffStep;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.maven.session.MojoLog;
import io.kiln.maven.session.Planned;
import java.io.File;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.codehaus.plexus.configuration.PlexusConfiguration;

/**
 * Builds everything from the model to a verified image in {@code outputDirectory}; needs no project.
 *
 * @since 0.1.0
 */
@Mojo(name = "build", requiresProject = false, threadSafe = true)
public final class BuildMojo extends AbstractBuildMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.build.skip", defaultValue = "false")
    private boolean skipBuild;

    /**
     * The most that a build may take: elements {@code flash}, {@code ram}, {@code instructions} and {@code cycles}, each a number such as {@code 64K}
     * or a share of growth such as {@code +2%}, and {@code baseline}, the build that shares refer to, named as in {@code kiln.diff.with}; or properties
     * such as {@code kiln.budget.flash}. Instructions and cycles are counted by {@code kiln:verify}.
     */
    @Parameter
    private Map<String, String> budget;

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

    /** A test plan in YAML, which is run beside. If not set, {@code src/test/plan.yaml}, if there is one. */
    @Parameter(property = "kiln.verify.plan")
    private File plan;

    /** Output folder, apart from the project's own {@code target}. */
    @Parameter(property = "kiln.outputDirectory", defaultValue = "kiln-out")
    private File outputDirectory;

    @Override
    boolean isGoalSkipped() {
        return skipBuild;
    }

    @Override
    boolean isAboutOneModel() {
        return true;
    }

    @Override
    Layout layout(List<ModelSource> sources) {
        return apart(outputDirectory, base(sources));
    }

    @Override
    void run() {
        Flow flow = flow();
        Supplier<DeviceSpec> device = () -> device(flash, probe, openocd, faults, monitor);
        Planned.run(
                Planned.file(plan, projectLayout()),
                () -> flow.recorded(
                        layout(List.of()), "kiln:build", record -> flow.build(spec(), device.get(), record)),
                file -> flow.plan(spec(), device.get(), file));
        BuildSpec spec = spec();
        new DiffStep(new MojoLog(getLog()), spec.layout()).check(budgets(budget), () -> flow.profile(spec));
    }
}
