// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.device.lease.Lease;
import io.kiln.device.transport.Transport;
import io.kiln.farm.job.FarmAnswer;
import io.kiln.flow.device.BoardUse;
import io.kiln.flow.device.FlashRunners;
import io.kiln.flow.device.FlashStep;
import io.kiln.flow.device.Leases;
import io.kiln.flow.device.NumberedLines;
import io.kiln.flow.device.NumberedLines.Heard;
import io.kiln.flow.farm.FarmRuns;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.tune.CandidateRunner.CandidateImage;
import io.kiln.flow.tune.CandidateRunner.CandidateRuns;
import io.kiln.flow.tune.CandidateRunner.CandidateRuns.Run;
import io.kiln.tuning.record.TuningRecord.MeasureError;
import io.kiln.tuning.task.Objective.Metric;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Measures the time of candidates on a board, by its own timer: flashes an image and reads from the console what its program says of each call. */
record BoardRunner(Console console) implements CandidateRunner {
    private static final Pattern SAID = Pattern.compile(
            MeasuringProgram.SAID + " ([0-9]{1,9}) ([0-9]{1,10}) ([1-9][0-9]{0,8}) ([0-9]{1,18}) ([1-9][0-9]{0,10})");

    /** A board that is flashed, and whose console is read. */
    @FunctionalInterface
    interface Console {
        /**
         * Runs an image.
         *
         * @param prefix that the numbered lines of its answers begin with
         * @param lines how many answers are awaited
         */
        Heard read(Path elf, String prefix, int lines);
    }

    /**
     * Measures on a board of this computer.
     *
     * @param limit for which an image may run
     * @param console gets what the program prints
     * @throws KilnException if the board cannot measure time, or nothing flashes it
     */
    static BoardRunner here(ResolvedBuild build, DeviceSpec device, Duration limit, Path console) {
        requireTimer(build, device);
        return new BoardRunner((elf, prefix, lines) -> {
            try (Lease lease = new Leases(BoardUse.of(build), device, limit, console).take();
                    Transport line = lease.start(
                            () -> new FlashStep(Log.QUIET, build, device.flash()).flash(elf, lease::flashRunner))) {
                return NumberedLines.read(line, limit, prefix, lines, lease.log());
            }
        });
    }

    /**
     * Measures on boards of a farm, whichever are free.
     *
     * @param limit for which an image may run
     * @throws KilnException if the board cannot measure time, or nothing flashes it
     */
    static BoardRunner of(FarmRuns farm, ResolvedBuild build, DeviceSpec device, Duration limit) {
        requireTimer(build, device);
        return new BoardRunner((elf, prefix, lines) -> {
            FarmAnswer.Heard heard = farm.listen(build.board(), limit, elf, prefix, lines);
            return new Heard(heard.lines(), heard.isTimeOver());
        });
    }

    private static void requireTimer(ResolvedBuild build, DeviceSpec device) {
        String board = "the board " + build.board().id();
        if (build.board().timer().isEmpty()) {
            throw Failure.TUNE.exception(
                    board + " has no timer",
                    build.board().origin(),
                    "timer in board.yaml",
                    "Use -Dkiln.tune.on=emulator");
        }
        if (!FlashRunners.areFor(build.board()) || !device.isFlashed()) {
            throw Failure.TUNE.exception(
                    "candidates must be flashed, and " + board
                            + (device.isFlashed() ? " has no flash runner" : " is not"),
                    "kiln.tune.on",
                    "flash in " + build.board().origin() + ", and no kiln.flash.skip",
                    "Use -Dkiln.tune.on=emulator");
        }
    }

    @Override
    public Set<Metric> metrics() {
        return Set.of(Metric.TIME);
    }

    /** Runs an image; lines of its answers from the first malformed one on are ignored. */
    @Override
    public CandidateRuns run(CandidateImage image) {
        int functions = image.functions().size();
        Heard heard = console.read(image.elf(), MeasuringProgram.SAID, functions);
        List<Run> runs = new ArrayList<>();
        for (String line : heard.lines()) {
            Matcher said = SAID.matcher(line);
            if (!said.matches() || Integer.parseInt(said.group(1)) != runs.size() || runs.size() == functions) {
                break;
            }
            double ticks = (double) Long.parseLong(said.group(4)) / Long.parseLong(said.group(3));
            double seconds = ticks / Long.parseLong(said.group(5));
            runs.add(new Run(Long.parseLong(said.group(2)), Map.of(Metric.TIME, seconds)));
        }
        if (runs.size() == functions) {
            return new CandidateRuns(runs, Optional.empty());
        }
        return new CandidateRuns(
                runs, Optional.of(heard.isTimeOver() ? MeasureError.RUN_TIMEOUT : MeasureError.RUNTIME_DEVICE));
    }
}
