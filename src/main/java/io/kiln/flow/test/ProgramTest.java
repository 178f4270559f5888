// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.test;

import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.device.fault.FaultWatch;
import io.kiln.device.fault.StackUse;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole.End;
import io.kiln.device.transport.TimedBytes;
import io.kiln.flow.test.ProgramTest.ProgramRun.Ending;
import io.kiln.flow.test.ProgramTest.ProgramScript.Exit;
import io.kiln.flow.test.ProgramTest.ProgramScript.Expect;
import io.kiln.flow.test.ProgramTest.ProgramScript.Send;
import io.kiln.flow.test.ProgramTest.ProgramScript.Step;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

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

    /** Runs a program under test, and starts it anew for each test. */
    interface ProgramMachine {
        /**
         * How a test went.
         *
         * @param time how long it took
         * @param problems what is wrong; empty if nothing
         * @param stack the deepest use of the program's stack, if that is known
         */
        record Result(Duration time, List<Problem> problems, Optional<StackUse> stack) {
            public Result {
                problems = List.copyOf(problems);
            }
        }

        /** The machine's name in reports. */
        String name();

        /** Starts the program and runs a test. */
        Result run(ProgramScript script);
    }

    /**
     * A test of a program from outside: what it is sent and what it has to print, in order.
     *
     * @param name the file's name without extension
     * @param board the board that runs it; empty for the build's
     * @param limit time within which the test must be over
     * @param steps at least one, in order
     * @param exit the code that the program must end with; empty if it need not end
     * @param where the file, for messages
     */
    record ProgramScript(
            String name, Optional<String> board, Duration limit, List<Step> steps, Optional<Exit> exit, String where) {
        ProgramScript {
            steps = List.copyOf(steps);
        }

        sealed interface Step {}

        /**
         * Text that the program prints next; other text may come before it.
         *
         * @param where the line of the file
         */
        record Expect(String text, String where) implements Step {}

        /** Text that the program is sent. */
        record Send(String text) implements Step {}

        /**
         * The end of a program.
         *
         * @param where the line of the file
         */
        record Exit(int code, String where) {}
    }

    /**
     * A running program in an emulator, on this computer or on a board.
     *
     * @param output what it prints
     * @param input what it reads
     * @param image the ELF file, for the names in a fault
     * @param exit the exit code of a program of this computer, after its output has ended; empty if it has none
     * @param stack the deepest use of its stack, from what it said of it when it ended
     */
    record ProgramRun(
            TimedBytes output,
            OutputStream input,
            Path image,
            Supplier<OptionalInt> exit,
            Function<OptionalLong, Optional<StackUse>> stack) {
        /**
         * Follows a program.
         *
         * @param limit longest time
         * @param console gets what it prints
         * @param enough gets it too, and says when the program need not go on
         * @return how it ended
         * @throws KilnException if it prints without end
         */
        Ending follow(Duration limit, Consumer<String> console, Predicate<String> enough) {
            FaultWatch faults = new FaultWatch(console);
            End end = ImageConsole.follow(output, limit, faults, enough);
            Optional<Problem> fault = faults.problem(image);
            if (end instanceof End.Returned returned) {
                return new Ending(
                        OptionalInt.of(returned.code()), false, false, fault, stack.apply(returned.stackUsed()));
            }
            Optional<StackUse> use = stack.apply(OptionalLong.empty());
            OptionalInt code = end instanceof End.Closed ? exit.get() : OptionalInt.empty();
            return new Ending(code, end instanceof End.Enough, end instanceof End.TimeOver, fault, use);
        }

        /**
         * How a program ended.
         *
         * @param code its exit code, if it ended by itself
         * @param stopped whether it was stopped because it need not go on
         * @param late whether it was stopped because its time was over
         * @param fault the fault that it reported
         * @param stack the deepest use of its stack, if that is known
         */
        record Ending(
                OptionalInt code, boolean stopped, boolean late, Optional<Problem> fault, Optional<StackUse> stack) {
            /** What is wrong with it, whatever the program should do: a fault, or a stack that overflowed. */
            Optional<Problem> failure() {
                return fault.or(() -> stack.flatMap(StackUse::problem));
            }

            /** The end in a few words. */
            String text(Duration limit) {
                if (late) {
                    return "it was stopped after " + limit.toSeconds() + " s";
                }
                return code.isPresent() ? "it ended with code " + code.getAsInt() : "it ended without a code";
            }
        }
    }
}
