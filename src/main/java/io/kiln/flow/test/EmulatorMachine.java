// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.test;

import io.kiln.base.Log;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.emulator.WatchedProgram;
import io.kiln.flow.build.RunnableImage;
import io.kiln.flow.resolve.ResolvedBuild;
import java.nio.file.Path;
import java.time.Duration;
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
        try (WatchedProgram program =
                emulator(script.name(), script.limit().plus(TO_END)).watch(image.file())) {
            return ProgramTest.run(script, of(program, image), text -> {});
        }
    }

    /** A program in an emulator or on this computer, whose process ends with it. */
    static ProgramRun of(WatchedProgram program, RunnableImage image) {
        return new ProgramRun(
                program.output(),
                program.process().input(),
                image.file(),
                () -> program.process().waitFor(TO_END).map(OptionalInt::of).orElse(OptionalInt.empty()),
                program::stackUse);
    }
}
