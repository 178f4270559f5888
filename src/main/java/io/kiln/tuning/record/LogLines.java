// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.record;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.util.Optional;

/** The lines of a log one after another, so that no more than one of them is in memory; of longer ones than 1 MiB only the beginning. */
final class LogLines {
    private static final int MOST_LETTERS = 1 << 20;

    private final Reader text;
    private int number;

    LogLines(Reader text) {
        this.text = new BufferedReader(text);
    }

    /**
     * A line.
     *
     * @param number from 1
     * @param text without the line's end
     * @param isEnded whether it has an end, as all but the last line have
     * @param isCut whether the line is longer than its text
     */
    record Line(int number, String text, boolean isEnded, boolean isCut) {}

    /** The next line; empty at the end. */
    Optional<Line> next() throws IOException {
        StringBuilder line = new StringBuilder();
        boolean isCut = false;
        int letter = text.read();
        if (letter < 0) {
            return Optional.empty();
        }
        while (letter >= 0 && letter != '\n') {
            if (line.length() < MOST_LETTERS) {
                line.append((char) letter);
            } else {
                isCut = true;
            }
            letter = text.read();
        }
        number++;
        return Optional.of(new Line(number, line.toString(), letter >= 0, isCut));
    }
}
