// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.spec.TestSpec;
import java.util.List;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Runs the tests of the project's own program: each {@code src/test/firmware/*.yaml} says what the program is sent and has to print, and {@code
 * src/test/c} has unit tests in C. Writes {@code target/kiln/TEST-kiln-test.xml}; without tests it does nothing.
 *
 * @since 0.1.0
 */
@Mojo(name = "test", defaultPhase = LifecyclePhase.INTEGRATION_TEST, threadSafe = true)
public final class TestMojo extends AbstractConsoleMojo {
    /**
     * Skips this goal.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.test.skip", defaultValue = "false")
    private boolean skipTest;

    /**
     * Skips this goal, like the tests of Maven's own plugins.
     *
     * @since 0.1.0
     */
    @Parameter(property = "skipTests", defaultValue = "false")
    private boolean skipTests;

    /**
     * Where the program runs: {@code emulator}, or {@code board}, which is flashed first.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.test.on", defaultValue = "emulator")
    private String testOn;

    /**
     * Where unit tests in C run: {@code host} for this computer, {@code target} for the board's emulator, separated by commas.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.test.units", defaultValue = "host,target")
    private List<String> units;

    @Override
    boolean isGoalSkipped() {
        return skipTest || skipTests;
    }

    /** Part of the build in any packaging. */
    @Override
    boolean isApart() {
        return false;
    }

    @Override
    boolean isAboutOneModel() {
        return false;
    }

    @Override
    void run() {
        flow().test(
                        spec(),
                        deviceSpec(),
                        TestSpec.of(testOn, units.stream().map(String::strip).toList()));
    }
}
