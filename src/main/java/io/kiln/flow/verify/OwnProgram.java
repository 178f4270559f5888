// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.emulator.ProgramWatch;
import io.kiln.device.emulator.ProgramWatch.Kind;
import io.kiln.device.emulator.ProgramWatch.Verdict;
import io.kiln.device.fault.StackUse;
import io.kiln.flow.build.RunnableImage;
import io.kiln.flow.resolve.ResolvedBuild;
import java.time.Duration;
import java.util.Optional;

/**
 * Boots the project's own program, which cannot be verified because it does not answer the host. The default
 * application is verified instead; this checks that the program to be flashed at least runs with the runtime.
 */
record OwnProgram(Log log, ResolvedBuild build) {
    private static final String NOT_IT = "Verified with the default application, not with the project's own program";

    /**
     * The result of watching the program.
     *
     * @param problem what went wrong; empty if nothing
     * @param time how long it ran
     * @param stack the deepest use of its stack, if that is known
     */
    record Result(Optional<Problem> problem, Duration time, Optional<StackUse> stack) {}

    /** Logs in one line what was not verified, where nothing boots the program. */
    void leaveOut(String why) {
        log.info(NOT_IT + ", which was not booted: " + why);
    }

    /**
     * Boots the program for the configured time, and logs in one line what was verified and what was not.
     *
     * @return the result; empty if it was skipped, or is inconclusive because the stand-in may lack the board's
     * hardware
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
            leaveOut("its failure on the stand-in is inconclusive");
            return Optional.empty();
        }
        String how = verdict.kind() == Kind.FINE
                ? ", which ran up to " + limit.toSeconds() + " s on " + where + " without fault or abort"
                : ", which failed on " + where;
        log.info(NOT_IT + how);
        return Optional.of(new Result(verdict.problem(), time, verdict.stack()));
    }
}
