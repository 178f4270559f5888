// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.test;

import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.Problem;
import io.kiln.flow.test.ProgramRun.Ending;
import io.kiln.flow.test.ProgramScript.Exit;
import io.kiln.flow.test.ProgramScript.Expect;
import io.kiln.flow.test.ProgramScript.Send;
import io.kiln.flow.test.ProgramScript.Step;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;

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

    /** Follows a script while the program prints, and sends what it says. Not thread-safe. */
    private static final class ScriptProgress implements Predicate<String> {
        /** Most characters kept while the expected text has not come. */
        private static final int MOST_KEPT = 1 << 16;

        private static final int MOST_SHOWN = 300;

        private final ProgramScript script;
        private final OutputStream program;
        private final StringBuilder unmatched = new StringBuilder();
        private int done;

        ScriptProgress(ProgramScript script, OutputStream program) {
            this.script = script;
            this.program = program;
        }

        /** Takes text of the program; true if the test is over. */
        @Override
        public boolean test(String piece) {
            unmatched.append(piece.replace("\r", ""));
            advance();
            unmatched.delete(0, Math.max(0, unmatched.length() - MOST_KEPT));
            return isOver();
        }

        /** Takes all steps that need no more text. */
        void advance() {
            while (done < script.steps().size() && take(script.steps().get(done))) {
                done++;
            }
        }

        private boolean take(Step step) {
            if (step instanceof Send send) {
                send(send.text());
                return true;
            }
            String wanted = ((Expect) step).text();
            int at = unmatched.indexOf(wanted);
            if (at >= 0) {
                unmatched.delete(0, at + wanted.length());
            }
            return at >= 0;
        }

        private void send(String text) {
            try {
                program.write(text.getBytes(StandardCharsets.UTF_8));
                program.flush();
            } catch (IOException e) {
                throw FileFailure.of("cannot send to the program of", Path.of(script.where()), e);
            }
        }

        /** Whether all steps are done, and the program need not end. */
        private boolean isOver() {
            return script.exit().isEmpty() && missing().isEmpty();
        }

        /** The text that has not come yet; empty if all has. */
        Optional<Expect> missing() {
            return script.steps().stream()
                    .skip(done)
                    .filter(Expect.class::isInstance)
                    .map(Expect.class::cast)
                    .findFirst();
        }

        /** The end of what the program printed since the last text that was expected. */
        String said() {
            String text = unmatched.toString().strip();
            return text.length() <= MOST_SHOWN ? text : "…" + text.substring(text.length() - MOST_SHOWN);
        }
    }
}
