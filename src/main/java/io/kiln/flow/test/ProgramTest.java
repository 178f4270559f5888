// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.test;

import io.kiln.base.Failure;
import io.kiln.base.Problem;
import io.kiln.flow.test.ProgramRun.Ending;
import io.kiln.flow.test.ProgramScript.Exit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Runs a script against a program. */
final class ProgramTest {
    private ProgramTest() {}

    /**
     * Runs the script.
     *
     * @param console gets what the program prints
     * @return how it went
     */
    static ProgramMachine.Result run(ProgramScript script, ProgramRun program, Consumer<String> console) {
        long start = System.nanoTime();
        ScriptProgress progress = new ScriptProgress(script, program.input());
        progress.advance();
        Ending ending = program.follow(script.limit(), console, progress);
        List<Problem> problems = new ArrayList<>();
        ending.failure().ifPresent(problems::add);
        progress.missing()
                .ifPresent(expected -> problems.add(Failure.TEST.problem(
                        "the program did not print this text; " + ending.text(script.limit()),
                        expected.where(),
                        "\"" + expected.text() + "\"",
                        progress.said().isEmpty() ? "It printed nothing more" : "It printed: " + progress.said())));
        if (problems.isEmpty()) {
            script.exit()
                    .flatMap(exit -> wrongEnd(exit, ending, script.limit()))
                    .ifPresent(problems::add);
        }
        return new ProgramMachine.Result(Duration.ofNanos(System.nanoTime() - start), problems, ending.stack());
    }

    private static Optional<Problem> wrongEnd(Exit exit, Ending ending, Duration limit) {
        return ending.code().isPresent() && ending.code().getAsInt() == exit.code()
                ? Optional.empty()
                : Optional.of(Failure.TEST.problem(
                        "the program did not end as it should: " + ending.text(limit),
                        exit.where(),
                        "code " + exit.code(),
                        ending.late() ? "Set timeout to more seconds if it needs them" : ""));
    }
}
