// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** Real programs that tests start. */
public final class TestPrograms {
    private TestPrograms() {}

    /** Skips the test, with the reason, where a program is missing; in CI the test goes on and fails. */
    public static void need(String... programs) {
        for (String program : List.of(programs)) {
            if (Executables.find(program).isEmpty() && !"true".equals(System.getenv("CI"))) {
                Assumptions.abort(program + " is not installed");
            }
        }
    }

    /** The programs that still run; those that were killed get a moment to end. */
    public static List<ProcessHandle> left() {
        List<ProcessHandle> left = ProcessHandle.current().descendants().toList();
        for (ProcessHandle process : left) {
            process.onExit().completeOnTimeout(process, 10, TimeUnit.SECONDS).join();
        }
        return left.stream().filter(ProcessHandle::isAlive).toList();
    }
}
