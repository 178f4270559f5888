// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.test;

import io.kiln.base.Problem;
import java.time.Duration;
import java.util.List;

/** Runs a program under test, and starts it anew for each test. */
interface ProgramMachine {
    /**
     * How a test went.
     *
     * @param time how long it took, the program's start included
     * @param problems what is wrong; empty if nothing
     */
    record Result(Duration time, List<Problem> problems) {
        public Result {
            problems = List.copyOf(problems);
        }
    }

    /** Its name in reports. */
    String name();

    /** Starts the program and runs a test. */
    Result run(ProgramScript script);
}
