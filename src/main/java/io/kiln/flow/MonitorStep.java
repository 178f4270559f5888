// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.base.Utf8Text;
import io.kiln.device.console.SerialConsole;
import io.kiln.toolchain.board.Board;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Predicate;

/** Shows what a board says on its serial line. */
final class MonitorStep {
    private static final Duration FOR_EVER = Duration.ofDays(10_000);

    private final Log log;
    private final Board board;
    private final MonitorSpec spec;

    MonitorStep(Log log, Board board, MonitorSpec spec) {
        this.log = log;
        this.board = board;
        this.spec = spec;
    }

    /**
     * Shows the console until the text came, the time is over or the build is stopped.
     *
     * @throws KilnException if no port is the board's console, or the text did not come
     */
    void run() {
        Optional<String> text = spec.text();
        Duration limit = spec.time().orElse(text.isPresent() ? spec.limit() : FOR_EVER);
        BoardConsole line = new BoardConsole(board, spec.console());
        String path = line.port();
        int baud = line.baud();
        try (SerialConsole console = SerialConsole.open(path, baud)) {
            log.info("Console of " + board.id() + " on " + path + " at " + baud + " baud"
                    + (spec.until().isEmpty() ? ", Ctrl-C ends it" : ""));
            ConsoleLines lines = new ConsoleLines(log);
            Awaited awaited = new Awaited(text);
            Utf8Text characters = new Utf8Text();
            SerialConsole.End end = console.read(limit, bytes -> {
                String piece = characters.accept(bytes);
                lines.accept(piece);
                return awaited.test(piece);
            });
            lines.accept(characters.end());
            lines.end();
            judge(end, text, path, limit);
        }
    }

    private void judge(SerialConsole.End end, Optional<String> text, String path, Duration limit) {
        if (end == SerialConsole.End.CLOSED) {
            throw new KilnException(new Problem("the serial port went away", path, "", "Look at the cable"));
        }
        if (end == SerialConsole.End.TIME_OVER && text.isPresent()) {
            throw new KilnException(new Problem(
                    "'" + text.get() + "' did not come within " + limit.toSeconds() + " s",
                    path,
                    "that text on the console",
                    "Reset the board, look at the baud rate, or set kiln.monitor.timeout"));
        }
        text.ifPresent(found -> log.info("'" + found + "' came"));
    }

    /** Waits for a text that may come in pieces. */
    private static final class Awaited implements Predicate<String> {
        private final Optional<String> text;
        private final StringBuilder recent = new StringBuilder();

        Awaited(Optional<String> text) {
            this.text = text;
        }

        @Override
        public boolean test(String piece) {
            if (text.isEmpty()) {
                return false;
            }
            recent.append(piece);
            boolean came = recent.indexOf(text.get()) >= 0;
            recent.delete(0, Math.max(0, recent.length() - text.get().length()));
            return came;
        }
    }
}
