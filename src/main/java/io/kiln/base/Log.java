// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

/** The engine's log; the Maven half passes an adapter to its own. */
public interface Log {
    /** A log that discards everything. */
    Log QUIET = new Log() {
        @Override
        public void info(String line) {}

        @Override
        public void warn(String line) {}

        @Override
        public void debug(String line) {}
    };

    /** A line for every user. */
    void info(String line);

    /** A line for which the goal was called, such as that of a list: a quiet build prints it, too. */
    default void answer(String line) {
        info(line);
    }

    /** A line that the user should act on. */
    void warn(String line);

    /** A line for debugging. */
    void debug(String line);
}
