// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.test;

import io.kiln.base.Problem;
import io.kiln.device.fault.StackUse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

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
