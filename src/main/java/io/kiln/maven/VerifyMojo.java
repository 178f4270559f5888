// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.Flow;
import io.kiln.flow.diff.DiffStep;
import io.kiln.maven.session.MojoLog;
import io.kiln.maven.session.Planned;
import java.io.File;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.codehaus.plexus.configuration.PlexusConfiguration;

/**
 * Runs the image and compares every output byte with the reference interpreter; writes {@code target/kiln/verify.json}. With
 * {@code kiln.verify.on=board} it flashes the board first and talks to it over its console.
 *
 * @since 0.1.0
 */
@Mojo(name = "verify", defaultPhase = LifecyclePhase.INTEGRATION_TEST, threadSafe = true)
public final class VerifyMojo extends AbstractBuildMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.verify.skip", defaultValue = "false")
    private boolean skipVerify;

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

    @Override
    boolean isGoalSkipped() {
        return skipVerify;
    }

    @Override
    void run() {
        Optional<Path> whole = Planned.file(plan, projectLayout());
        if (whole.isEmpty()) {
            runUnlessUpToDate("verify", budget, this::verify);
        } else {
            // The boards of a plan may have changed without any file.
            Flow flow = flow();
            Planned.run(
                    whole,
                    () -> verify(flow),
                    file -> flow.plan(spec(), device(flash, probe, openocd, faults, monitor), file));
        }
    }

    private void verify(Flow flow) {
        flow.recorded(
                projectLayout(),
                "kiln:verify",
                record -> flow.verify(
                        spec(),
                        device(flash, probe, openocd, faults, monitor),
                        record,
                        build -> new DiffStep(new MojoLog(getLog()), projectLayout())
                                .check(budgets(budget), () -> flow.profile(build))));
    }
}
