// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.device.lease.Lease;
import io.kiln.device.transport.Transport;
import io.kiln.flow.device.FlashRunners;
import io.kiln.flow.device.FlashStep;
import io.kiln.flow.device.Leases;
import io.kiln.flow.device.LineFollower;
import io.kiln.flow.device.LineFollower.End;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.tune.CandidateRuns.Run;
import io.kiln.tuning.record.MeasureError;
import io.kiln.tuning.task.Objective.Metric;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Measures the time of candidates on a board, by its own timer: flashes an image and reads from the console what its program says of each call.
 */
final class BoardRunner implements CandidateRunner {
    private static final Pattern SAID = Pattern.compile(
            MeasuringProgram.SAID + " ([0-9]{1,9}) ([0-9]{1,10}) ([1-9][0-9]{0,8}) ([0-9]{1,18}) ([1-9][0-9]{0,10})");

    /** Longest line of an answer; longer ones are none. */
    private static final int LONGEST = 80;

    private final ResolvedBuild build;
    private final DeviceSpec device;
    private final Duration limit;
    private final Path console;

    /**
     * @param limit for which an image may run
     * @param console gets what the program prints
     * @throws KilnException if the board cannot measure time, or nothing flashes it
     */
    BoardRunner(ResolvedBuild build, DeviceSpec device, Duration limit, Path console) {
        this.build = build;
        this.device = device;
        this.limit = limit;
        this.console = console;
        requireTimer();
    }

    private void requireTimer() {
        String board = "the board " + build.board().id();
        if (build.board().timer().isEmpty()) {
            throw new KilnException(new Problem(
                    board + " has no timer",
                    build.board().origin(),
                    "timer in board.yaml",
                    "Use -Dkiln.tune.on=emulator"));
        }
        if (!FlashRunners.areFor(build.board()) || !device.isFlashed()) {
            throw new KilnException(new Problem(
                    "candidates must be flashed, and " + board
                            + (device.isFlashed() ? " has no flash runner" : " is not"),
                    "kiln.tune.on",
                    "flash in " + build.board().origin() + ", and no kiln.flash.skip",
                    "Use -Dkiln.tune.on=emulator"));
        }
    }

    @Override
    public Set<Metric> metrics() {
        return Set.of(Metric.TIME);
    }

    @Override
    public CandidateRuns run(CandidateImage image) {
        Answers answers = new Answers(image.functions().size());
        End end;
        try (Lease lease = new Leases(build, device, limit, console).take();
                Transport line = lease.start(
                        () -> new FlashStep(Log.QUIET, build, device.flash()).flash(image.elf(), lease::flashRunner))) {
            end = LineFollower.follow(line, limit, piece -> {
                String text = new String(piece, StandardCharsets.ISO_8859_1);
                lease.log().accept(text);
                return answers.take(text);
            });
        }
        Optional<MeasureError> failure = Optional.of(MeasureError.RUNTIME_DEVICE)
                .map(error -> end == End.TIME_OVER ? MeasureError.RUN_TIMEOUT : error)
                .filter(error -> end != End.ENOUGH);
        return new CandidateRuns(answers.runs, failure);
    }

    /** What a program says, line by line. What is cut off at the beginning, or is no answer, does not matter. */
    private static final class Answers {
        private final int functions;
        private final List<Run> runs = new ArrayList<>();
        private final StringBuilder line = new StringBuilder();

        Answers(int functions) {
            this.functions = functions;
        }

        /** True as soon as all functions have answered. */
        boolean take(String text) {
            for (int i = 0; i < text.length() && runs.size() < functions; i++) {
                if (text.charAt(i) == '\n') {
                    end();
                } else if (line.length() < LONGEST) {
                    line.append(text.charAt(i));
                }
            }
            return runs.size() == functions;
        }

        private void end() {
            Matcher said = SAID.matcher(line.toString().strip());
            line.setLength(0);
            if (said.matches() && Integer.parseInt(said.group(1)) == runs.size()) {
                double ticks = (double) Long.parseLong(said.group(4)) / Long.parseLong(said.group(3));
                double seconds = ticks / Long.parseLong(said.group(5));
                runs.add(new Run(Long.parseLong(said.group(2)), Map.of(Metric.TIME, seconds)));
            }
        }
    }
}
