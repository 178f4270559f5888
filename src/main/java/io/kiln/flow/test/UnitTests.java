// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.test;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.emulator.WatchedProgram;
import io.kiln.flow.build.RunnableImage;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.test.ProgramRun.Ending;
import io.kiln.report.TestReport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Unit tests in C: the project's code without its {@code main}, with a runner, in one image.
 *
 * @param folder the folder of the tests
 */
record UnitTests(Path folder) {
    /** Time limit of unit tests: they are short, but on a slow emulator they may take a while. */
    private static final Duration LIMIT = Duration.ofMinutes(2);

    /**
     * Builds and runs them.
     *
     * @param name name of the suite
     * @throws KilnException if they do not compile or link, or none ran
     */
    TestReport.Suite run(ResolvedBuild build, String name) {
        RunnableImage image = RunnableImage.ofUnitTests(build, folder);
        UnitTestLines lines = new UnitTestLines(System::nanoTime);
        Emulator emulator = Emulator.of(image.board(), LIMIT);
        try (WatchedProgram program = emulator.watch(image.file())) {
            Ending ending = EmulatorMachine.of(program, image).follow(LIMIT, lines, text -> false);
            String how = ending.failure()
                    .map(fault -> new KilnException(fault).getMessage())
                    .orElse(ending.text(LIMIT));
            List<TestReport.Case> cases = lines.cases(how);
            if (cases.isEmpty()) {
                throw Failure.TEST.exception(
                        "no unit test ran: " + how,
                        folder.toString(),
                        "tests such as KILN_TEST(name) { KILN_CHECK(1 + 1 == 2); } with #include \"kiln_test.h\"");
            }
            boolean overflowed = ending.fault().isEmpty() && ending.failure().isPresent();
            if (overflowed) {
                cases.add(new TestReport.Case("stack", Duration.ZERO, Optional.of(how)));
            }
            return new TestReport.Suite(name, cases);
        }
    }

    /** Reads what the runner of unit tests prints, {@code kiln_test.c}. Not thread-safe. */
    private static final class UnitTestLines implements Consumer<String> {
        private static final String RUN = "kiln-test: run ";
        private static final String OK = "kiln-test: ok ";
        private static final String FAILED = "kiln-test: failed ";

        private final LongSupplier clock;
        private final StringBuilder line = new StringBuilder();
        private final List<TestReport.Case> cases = new ArrayList<>();
        private Optional<String> running = Optional.empty();
        private long began;

        /**
         * @param clock nanoseconds
         */
        UnitTestLines(LongSupplier clock) {
            this.clock = clock;
        }

        @Override
        public void accept(String text) {
            for (int i = 0; i < text.length(); i++) {
                char character = text.charAt(i);
                if (character == '\n') {
                    take(line.toString());
                    line.setLength(0);
                } else if (character != '\r') {
                    line.append(character);
                }
            }
        }

        private void take(String whole) {
            if (whole.startsWith(RUN)) {
                running = Optional.of(whole.substring(RUN.length()));
                began = clock.getAsLong();
            } else if (whole.startsWith(OK)) {
                end(whole.substring(OK.length()), Optional.empty());
            } else if (whole.startsWith(FAILED)) {
                String rest = whole.substring(FAILED.length());
                int colon = rest.indexOf(": ");
                end(
                        colon < 0 ? rest : rest.substring(0, colon),
                        Optional.of(colon < 0 ? "it failed" : rest.substring(colon + 2)));
            }
        }

        private void end(String name, Optional<String> failure) {
            running = Optional.empty();
            cases.add(new TestReport.Case(name, Duration.ofNanos(clock.getAsLong() - began), failure));
        }

        /**
         * The tests that ran.
         *
         * @param ending how the program ended; if a test was running, it failed with this
         */
        List<TestReport.Case> cases(String ending) {
            List<TestReport.Case> all = new ArrayList<>(cases);
            running.ifPresent(name -> all.add(
                    new TestReport.Case(name, Duration.ofNanos(clock.getAsLong() - began), Optional.of(ending))));
            return all;
        }
    }
}
