// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Utf8Text;
import io.kiln.device.fault.FaultWatch;
import io.kiln.device.transport.Transport;
import io.kiln.flow.device.LineFollower.End;
import io.kiln.flow.spec.MonitorSpec;
import io.kiln.toolchain.board.Board;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Shows the output of a board's console. */
public record MonitorStep(Log log, Board board, Path image, MonitorSpec spec) {
    private static final Duration FOR_EVER = Duration.ofDays(10_000);

    /**
     * Shows the console until the text appears, the time is over or the build is stopped.
     *
     * @throws KilnException if no port is the board's console, the text did not appear, or the line was closed
     */
    public void run() {
        Optional<String> text = spec.text();
        Duration limit = spec.time().orElse(text.isPresent() ? spec.limit() : FOR_EVER);
        BoardConsole line = new BoardConsole(board, spec.console());
        String path = line.port();
        try (Transport console = line.open(path)) {
            log.info("Console of " + board.id() + " on " + line.name(path)
                    + (spec.until().isEmpty() ? ", Ctrl-C ends it" : ""));
            ConsoleLines lines = new ConsoleLines(log);
            FaultWatch faults = new FaultWatch(lines);
            AwaitedText awaited = new AwaitedText(text);
            Utf8Text characters = new Utf8Text();
            End end = LineFollower.follow(console, limit, bytes -> {
                String piece = characters.accept(bytes);
                faults.accept(piece);
                faults.take(image).ifPresent(fault -> log.info(fault.text()));
                return awaited.test(piece);
            });
            lines.accept(characters.end());
            lines.end();
            judge(end, text, path, limit);
        }
    }

    private void judge(End end, Optional<String> text, String path, Duration limit) {
        if (end == End.CLOSED) {
            throw Failure.RUN.exception("the line was closed at its other end", path, "", "Check the cable");
        }
        if (end == End.TIME_OVER && text.isPresent()) {
            throw Failure.RUN.exception(
                    "'" + text.get() + "' did not appear within " + limit.toSeconds() + " s",
                    path,
                    "that text on the console",
                    "Reset the board, check the baud rate, or set kiln.monitor.timeout");
        }
        text.ifPresent(found -> log.info("'" + found + "' came"));
    }

    /** Waits for a text that may arrive in pieces; without a text it never ends. Not thread-safe. */
    public static final class AwaitedText implements Predicate<String> {
        private final Optional<String> text;
        private final StringBuilder recent = new StringBuilder();

        public AwaitedText(Optional<String> text) {
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

    /** Logs console text line by line. Not thread-safe. */
    public static final class ConsoleLines implements Consumer<String> {
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
}
