// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Log;
import java.util.function.Consumer;

/** Logs console text line by line. Not thread-safe. */
public final class ConsoleLines implements Consumer<String> {
    /** Longest line in characters; longer ones are split. */
    private static final int LONGEST = 4096;

    private final Log log;
    private final StringBuilder line = new StringBuilder();

    public ConsoleLines(Log log) {
        this.log = log;
    }

    /** Logs an unterminated last line. */
    public void end() {
        if (!line.isEmpty()) {
            accept("\n");
        }
    }

    @Override
    public void accept(String text) {
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (character == '\n' || line.length() == LONGEST) {
                log.answer("| " + line);
                line.setLength(0);
            }
            if (character != '\n' && character != '\r') {
                line.append(character);
            }
        }
    }
}
