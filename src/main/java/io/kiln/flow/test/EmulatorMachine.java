// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.test;

import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.device.emulator.Emulator;
import io.kiln.flow.build.RunnableImage;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.process.RunningProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The board's emulator, its stand-in's, or this computer.
 *
 * @param build what is under test
 * @param image what runs
 * @param logs folder of the programs' output
 */
record EmulatorMachine(ResolvedBuild build, RunnableImage image, Path logs) implements ProgramMachine {
    private static final Duration TO_END = Duration.ofSeconds(2);

    /** The machine of a build, whose image is linked. */
    static EmulatorMachine of(Log log, ResolvedBuild build, Path logs) {
        return new EmulatorMachine(build, RunnableImage.asBuilt(log, build), logs);
    }

    @Override
    public String name() {
        return RunnableImage.name(build, emulator("", Duration.ZERO));
    }

    private Emulator emulator(String test, Duration limit) {
        return new Emulator(
                image.board(),
                limit,
                Optional.of(logs.resolve(test + ".log")),
                build.spec().semihosting());
    }

    @Override
    public Result run(ProgramScript script) {
        long start = System.nanoTime();
        try (RunningProcess process =
                emulator(script.name(), script.limit().plus(TO_END)).start(image.file())) {
            List<Problem> problems = ProgramTest.run(script, run(process), text -> {});
            return new Result(Duration.ofNanos(System.nanoTime() - start), problems);
        }
    }

    private ProgramRun run(RunningProcess process) {
        return of(process, image);
    }

    /** A program in an emulator or on this computer, whose process ends with it. */
    static ProgramRun of(RunningProcess process, RunnableImage image) {
        return new ProgramRun(
                process.output(),
                process.input(),
                image.file(),
                () -> process.waitFor(TO_END).map(OptionalInt::of).orElse(OptionalInt.empty()));
    }
}
