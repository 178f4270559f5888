// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.function.Consumer;

/** The engine's log; the Maven half passes an adapter to its own. */
public interface Log {
    /** A log that discards everything. */
    Log QUIET = of(line -> {}, line -> {}, line -> {});

    /** A log of functions, each of which gets the lines of a kind; answers are information. */
    static Log of(Consumer<String> info, Consumer<String> warn, Consumer<String> debug) {
        return new Log() {
            @Override
            public void info(String line) {
                info.accept(line);
            }

            @Override
            public void warn(String line) {
                warn.accept(line);
            }

            @Override
            public void debug(String line) {
                debug.accept(line);
            }
        };
    }

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
