// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Log;
import java.util.function.Consumer;

/** Logs console text line by line, however it arrives. Not thread-safe. */
public final class ConsoleLines implements Consumer<String> {
    /** Characters of a line; longer ones are broken. */
    private static final int LONGEST = 4096;

    private final Log log;
    private final StringBuilder line = new StringBuilder();

    public ConsoleLines(Log log) {
        this.log = log;
    }

    /** Logs a last line that has no end. */
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
                log.info("| " + line);
                line.setLength(0);
            }
            if (character != '\n' && character != '\r') {
                line.append(character);
            }
        }
    }
}
