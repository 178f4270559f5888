// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.device.flash.FlashFailure;
import io.kiln.device.flash.FlashImage;
import io.kiln.device.flash.FlashProgress;
import io.kiln.device.flash.FlashResult;
import io.kiln.device.flash.FlashRunner;
import io.kiln.device.flash.Probe;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Flashes a board by the Project API server that its profile names. */
final class ProjectRunner implements FlashRunner {
    private final Log log;
    private final BoardProject project;

    ProjectRunner(Log log, BoardProject project) {
        this.log = log;
        this.project = project;
    }

    @Override
    public String tool() {
        return "the Project API server in " + project.how().directory();
    }

    /** Any probe: only the server knows which one it uses. */
    @Override
    public List<Probe> probes() {
        return List.of(new Probe.Any());
    }

    @Override
    public FlashResult flash(Probe probe, FlashImage image, FlashProgress progress) {
        long start = System.nanoTime();
        Optional<FlashFailure> failure = Optional.empty();
        try {
            project.flash(log);
        } catch (KilnException e) {
            failure = Optional.of(FlashFailure.ofServer(e.getMessage()));
        }
        return new FlashResult(probe, false, image.size(), Duration.ofNanos(System.nanoTime() - start), failure);
    }

    /** Does nothing: the server has ended already. */
    @Override
    public void close() {}
}
