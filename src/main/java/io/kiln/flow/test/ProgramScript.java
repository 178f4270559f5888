// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.test;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

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
