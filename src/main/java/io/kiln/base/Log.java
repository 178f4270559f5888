// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

/** Where the engine says what it does; the Maven half hands in its own logger. */
public interface Log {
    /** A log that keeps quiet. */
    Log QUIET = new Log() {
        @Override
        public void info(String line) {}

        @Override
        public void warn(String line) {}

        @Override
        public void debug(String line) {}
    };

    /** One line for everybody. */
    void info(String line);

    /** One line that the user should act on. */
    void warn(String line);

    /** One line for those who look for a fault. */
    void debug(String line);
}
