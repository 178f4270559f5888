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
import java.util.List;
import java.util.Optional;

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
                throw new KilnException(Failure.TEST.problem(
                        "no unit test ran: " + how,
                        folder.toString(),
                        "tests such as KILN_TEST(name) { KILN_CHECK(1 + 1 == 2); } with #include \"kiln_test.h\"",
                        ""));
            }
            boolean overflowed = ending.fault().isEmpty() && ending.failure().isPresent();
            if (overflowed) {
                cases.add(new TestReport.Case("stack", Duration.ZERO, Optional.of(how)));
            }
            return new TestReport.Suite(name, cases);
        }
    }
}
