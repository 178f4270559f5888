// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.spec.ImageSpec.TestSpec;
import io.kiln.flow.test.TestStep;
import java.util.List;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.codehaus.plexus.configuration.PlexusConfiguration;

/**
 * Runs the tests of the project's own program: each {@code src/test/firmware/*.yaml} says what the program is sent and has to print, and {@code
 * src/test/c} has unit tests in C. Writes {@code target/kiln/TEST-kiln-test.xml}; without tests it does nothing.
 *
 * @since 0.1.0
 */
@Mojo(name = "test", defaultPhase = LifecyclePhase.INTEGRATION_TEST, threadSafe = true)
public final class TestMojo extends AbstractBuildMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.test.skip", defaultValue = "false")
    private boolean skipTest;

    /** Skips this goal, like the tests of Maven's own plugins. */
    @Parameter(property = "skipTests", defaultValue = "false")
    private boolean skipTests;

    /** Where the program runs: {@code emulator}, or {@code board}, which is flashed first. */
    @Parameter(property = "kiln.test.on", defaultValue = "emulator")
    private String testOn;

    /** Where unit tests in C run: {@code host} for this computer, {@code target} for the board's emulator, separated by commas. */
    @Parameter(property = "kiln.test.units", defaultValue = "host,target")
    private List<String> units;

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

    @Override
    boolean isGoalSkipped() {
        return skipTest || skipTests;
    }

    @Override
    void run() {
        if (TestStep.areIn(projectLayout())) {
            TestSpec tests =
                    TestSpec.of(testOn, units.stream().map(String::strip).toList());
            runUnlessUpToDate("test", flow -> flow.test(spec(), device(flash, probe, openocd, faults, monitor), tests));
        }
    }
}
