// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.base.KilnException;
import io.kiln.device.flash.FlashFailure.Kind;
import io.kiln.process.Command;
import io.kiln.process.ProcessResult;
import io.kiln.process.ProcessRunner;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Flashes one device in one run of OpenOCD.
 *
 * @param openOcd the program
 * @param limit time after which it is killed, because OpenOCD ignores termination requests
 * @param preverify whether an image that the device already holds is kept
 * @param log gets the whole output
 */
public record Flasher(OpenOcd openOcd, Duration limit, boolean preverify, Optional<Path> log) {

    /** Flashes; a failure is a result, not an exception. No process remains afterwards. */
    public FlashResult flash(FlashTarget target, FlashImage image, FlashProgress progress) {
        long start = System.nanoTime();
        OpenOcdOutput output = new OpenOcdOutput(progress);
        Optional<FlashFailure> failure = WorkFolder.use(folder -> run(target, image, folder, output));
        return new FlashResult(
                target.probe(),
                output.isUnchanged(),
                image.size(),
                Duration.ofNanos(System.nanoTime() - start),
                failure);
    }

    private Optional<FlashFailure> run(FlashTarget target, FlashImage image, Path folder, OpenOcdOutput output) {
        List<String> arguments = new ArrayList<>(target.arguments(FlashScript.PROCEDURES));
        arguments.addAll(new FlashScript(folder, image).arguments(target.board().chipId(), preverify));
        Command command = Command.of(openOcd.executable().toString(), arguments)
                .in(folder)
                .owning(folder)
                .within(limit);
        try {
            ProcessResult result = ProcessRunner.run(log.map(command::loggingTo).orElse(command), output);
            return failure(result, image, output);
        } catch (KilnException e) {
            if (!Thread.currentThread().isInterrupted()) {
                throw e;
            }
            return Optional.of(FlashFailure.interrupted(output.hasBegun()));
        }
    }

    /**
     * The verdict. Exit code 0 may hide a failure, and so may success messages: flashing succeeded only if every
     * command finished and the number of bytes read back equals the image's size.
     */
    private Optional<FlashFailure> failure(ProcessResult result, FlashImage image, OpenOcdOutput output) {
        if (result.timedOut()) {
            return Optional.of(new FlashFailure(
                    Kind.TIME_OUT, "after " + limit.toSeconds() + " s", OptionalLong.empty(), output.hasBegun()));
        }
        boolean looksGood = result.exitCode() == 0 && output.hasRun() && output.verified() == image.size();
        boolean saysOtherwise = output.lines().stream()
                .anyMatch(line -> line.contains("UNEXPECTED:") || line.contains("no flash bank found"));
        if (looksGood && !saysOtherwise) {
            return Optional.empty();
        }
        return Optional.of(
                FailureRules.classify(output.lines(), output.hasBegun()).orElseGet(() -> other(result, image, output)));
    }

    private static FlashFailure other(ProcessResult result, FlashImage image, OpenOcdOutput output) {
        String said = output.lastError()
                .orElse("exit code " + result.exitCode() + ", " + output.verified() + " of " + image.size()
                        + " bytes verified");
        return new FlashFailure(Kind.OTHER, said, OptionalLong.empty(), output.hasBegun());
    }
}
