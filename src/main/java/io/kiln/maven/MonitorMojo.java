// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.spec.MonitorSpec;
import java.time.Duration;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Shows the output of the board's serial console. The port is found by the USB ids of the board's console; if several
 * match, the goal fails and lists them.
 *
 * @since 0.1.0
 */
@Mojo(name = "monitor", requiresProject = false, threadSafe = true)
public final class MonitorMojo extends AbstractConsoleMojo {
    /**
     * Skips this goal.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.monitor.skip", defaultValue = "false")
    private boolean skipMonitor;

    /**
     * What ends the goal: a text that appears, or a time such as {@code 10s}. If not set, Ctrl-C.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.monitor.until")
    private String until;

    /**
     * Seconds within which the text of {@code until} must appear; otherwise the goal fails.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.monitor.timeout", defaultValue = "60")
    private int timeout;

    @Override
    boolean isGoalSkipped() {
        return skipMonitor;
    }

    @Override
    void run() {
        MonitorSpec monitor = new MonitorSpec(console(), Optional.ofNullable(until), Duration.ofSeconds(timeout));
        boardFlow().monitor(spec(), monitor);
    }
}
