// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.emulator.ProgramWatch;
import io.kiln.device.emulator.ProgramWatch.Kind;
import io.kiln.device.emulator.ProgramWatch.Verdict;
import io.kiln.flow.build.RunnableImage;
import io.kiln.flow.resolve.ResolvedBuild;
import java.time.Duration;
import java.util.Optional;

/**
 * Boots the project's own program, which answers no host, beside the default application that is verified in its place: the program
 * that will be flashed has at least to get along with the runtime.
 */
final class OwnProgram {
    private static final String NOT_IT =
            "Verified with the default application, not the project's own program, which is what is flashed";

    private final Log log;
    private final ResolvedBuild build;

    OwnProgram(Log log, ResolvedBuild build) {
        this.log = log;
        this.build = build;
    }

    /**
     * What came of it.
     *
     * @param problem what went wrong; empty if nothing did
     * @param time how long it ran
     */
    record Result(Optional<Problem> problem, Duration time) {}

    /** Says in one line what was not verified, where nothing boots the program. */
    void leaveOut(String why) {
        log.info(NOT_IT + " and was not booted: " + why);
    }

    /**
     * Boots the program for as long as the build asks for, and says in one line what was verified and what was not.
     *
     * @return what came of it; empty if it was left out, or says nothing because the stand-in may lack the board's hardware
     */
    Optional<Result> watch() {
        Duration limit = build.spec().verify().program();
        if (limit.isZero()) {
            leaveOut("kiln.verify.program is 0");
            return Optional.empty();
        }
        RunnableImage image = RunnableImage.asBuilt(Log.QUIET, build);
        Emulator emulator = new Emulator(
                image.board(),
                limit,
                Optional.of(build.spec().layout().reports().resolve("program.log")),
                build.spec().semihosting());
        long start = System.nanoTime();
        Verdict verdict = new ProgramWatch(emulator).watch(image.file());
        Duration time = Duration.ofNanos(System.nanoTime() - start);
        String where = RunnableImage.name(build, emulator);
        if (verdict.kind() == Kind.MACHINE && build.hasStandIn()) {
            log.warn(verdict.problem().orElseThrow().what() + ", on " + where
                    + ", which may lack what the program uses");
            leaveOut("its end on the stand-in proves nothing");
            return Optional.empty();
        }
        String how = verdict.kind() == Kind.FINE
                ? "; that one ran up to " + limit.toSeconds() + " s on " + where + " without fault or abort"
                : "; that one went wrong on " + where;
        log.info(NOT_IT + how);
        return Optional.of(new Result(verdict.problem(), time));
    }
}
