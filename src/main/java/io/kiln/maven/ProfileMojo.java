// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.spec.ProfileOn;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Counts the instructions of one inference and estimates its cycles, whole and per operator; writes {@code kiln/profile.json}. With
 * {@code kiln.profile.on=board} it flashes the board first and measures the time of one inference there,
 * with {@code kiln.executor=graph} of each operator; writes {@code kiln/trace-NAME.json} for Chrome's viewer of traces, too.
 *
 * @since 0.1.0
 */
@Mojo(name = "profile", requiresProject = false, threadSafe = true)
public final class ProfileMojo extends AbstractConsoleMojo {
    /**
     * Skips this goal.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.profile.skip", defaultValue = "false")
    private boolean skipProfile;

    /**
     * Where an inference is measured: {@code emulator}, or {@code board}, whose image needs {@code kiln.application=rpc} (flashed
     * first, unless {@code kiln.flash.skip} is set).
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.profile.on", defaultValue = "emulator")
    private String on;

    @Override
    boolean isGoalSkipped() {
        return skipProfile;
    }

    @Override
    void run() {
        switch (ProfileOn.of(on)) {
            case EMULATOR -> flow().profile(spec());
            case BOARD -> flow().profile(spec(), deviceSpec());
        }
    }
}
