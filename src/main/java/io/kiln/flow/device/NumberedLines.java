// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.device.transport.Transport;
import io.kiln.flow.device.LineFollower.End;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Collects what a program prints in lines that are numbered from 0: {@code <prefix> <number> …}. All other lines are ignored. */
public final class NumberedLines {
    /** Longest line in characters; the rest of a longer one is dropped. */
    private static final int LONGEST = 80;

    private final String prefix;
    private final int wanted;
    private final List<String> lines = new ArrayList<>();
    private final StringBuilder line = new StringBuilder();

    private NumberedLines(String prefix, int wanted) {
        this.prefix = prefix;
        this.wanted = wanted;
    }

    /**
     * The received lines.
     *
     * @param lines the first lines in order, without line ends
     * @param isTimeOver whether the time was over before all of them came
     */
    public record Heard(List<String> lines, boolean isTimeOver) {
        public Heard {
            lines = List.copyOf(lines);
        }
    }

    /**
     * Reads until all lines have come, the time is over or the line is closed.
     *
     * @param limit longest time
     * @param prefix word that the lines begin with
     * @param wanted number of lines
     * @param text gets all that the program prints
     */
    public static Heard read(Transport line, Duration limit, String prefix, int wanted, Consumer<String> text) {
        NumberedLines numbered = new NumberedLines(prefix, wanted);
        End end = LineFollower.follow(line, limit, piece -> {
            String characters = new String(piece, StandardCharsets.ISO_8859_1);
            text.accept(characters);
            return numbered.take(characters);
        });
        return new Heard(numbered.lines, end == End.TIME_OVER);
    }

    /** True as soon as all lines have come. */
    private boolean take(String characters) {
        for (int i = 0; i < characters.length() && lines.size() < wanted; i++) {
            if (characters.charAt(i) == '\n') {
                end();
            } else if (line.length() < LONGEST) {
                line.append(characters.charAt(i));
            }
        }
        return lines.size() == wanted;
    }

    /** Ends a line; one whose beginning is missing is dropped. */
    private void end() {
        String whole = line.toString().strip();
        line.setLength(0);
        if (whole.startsWith(prefix + " " + lines.size() + " ")) {
            lines.add(whole);
        }
    }
}
