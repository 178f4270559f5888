// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Utf8Text;
import io.kiln.device.fault.FaultWatch;
import io.kiln.device.transport.TcpTransport;
import io.kiln.device.transport.TimedBytes;
import io.kiln.device.transport.TimedInput;
import io.kiln.device.transport.Transport;
import io.kiln.device.transport.serial.SerialConsole;
import io.kiln.device.transport.serial.SerialConsole.Port;
import io.kiln.device.transport.serial.SerialConsole.PortChoice;
import io.kiln.flow.device.MonitorStep.LineFollower.End;
import io.kiln.flow.spec.DeviceSpec.ConsoleSpec;
import io.kiln.flow.spec.DeviceSpec.MonitorSpec;
import io.kiln.toolchain.board.Board;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
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

    /** Reads a line to a board piece by piece. */
    public static final class LineFollower {
        /** Nanoseconds for which a piece is waited for before the time limit is looked at. */
        private static final long BLOCK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

        private static final int BLOCK_BYTES = 4096;

        private LineFollower() {}

        /** Why reading ended. */
        public enum End {
            /** The receiver has enough. */
            ENOUGH,
            TIME_OVER,
            /** The line was closed at its other end. */
            CLOSED
        }

        /**
         * Passes on the received bytes.
         *
         * @param limit longest time
         * @param enough gets each piece; true ends reading
         * @throws KilnException if this thread is interrupted
         */
        public static End follow(Transport line, Duration limit, Predicate<byte[]> enough) {
            try (TimedInput input = new TimedInput(line.input())) {
                long end = input.now() + limit.toNanos();
                while (input.now() < end) {
                    int first = input.read(Math.min(end, input.now() + BLOCK_NANOS));
                    if (Thread.currentThread().isInterrupted()) {
                        throw Failure.COMPUTER.exception("the build was interrupted", "console");
                    }
                    if (first == TimedBytes.END) {
                        return End.CLOSED;
                    }
                    if (first >= 0 && enough.test(piece(first, input))) {
                        return End.ENOUGH;
                    }
                }
                return End.TIME_OVER;
            }
        }

        /** A byte, and those that follow it within a millisecond. */
        private static byte[] piece(int first, TimedInput input) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            long soon = input.now() + TimeUnit.MILLISECONDS.toNanos(1);
            for (int value = first;
                    value >= 0;
                    value = bytes.size() < BLOCK_BYTES ? input.read(soon) : TimedBytes.LATE) {
                bytes.write(value);
            }
            return bytes.toByteArray();
        }
    }

    /** Collects what a program prints in lines that are numbered from 0: {@code <prefix> <number> …}. All other lines are ignored. */
    public static final class NumberedLines {
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

    /**
     * The serial console of a board.
     *
     * @param spec the user's settings
     */
    public record BoardConsole(Board board, ConsoleSpec spec) {
        private static final int DEFAULT_BAUD = 115200;
        private static final Duration TO_CONNECT = Duration.ofSeconds(5);

        /**
         * The path of the port, which need not be open yet.
         *
         * @throws io.kiln.base.KilnException if no port matches, or more than one
         */
        String port() {
            return choice(spec.serial()).choose(Port.list());
        }

        /** The path of the port, as {@link #port()} finds it; unless the user names a port, one of the same USB device as the probe is preferred. */
        String portBeside(Optional<String> probe) {
            List<Port> ports = Port.list();
            boolean isOfProbe = spec.serial().isEmpty()
                    && probe.isPresent()
                    && ports.stream().anyMatch(port -> port.serial().equals(probe.get()));
            return choice(isOfProbe ? probe : spec.serial()).choose(ports);
        }

        /**
         * Opens the line.
         *
         * @param port a serial port, or {@code tcp:<number>} for a port of this computer
         * @throws io.kiln.base.KilnException if it cannot be opened
         */
        Transport open(String port) {
            Optional<Integer> tcp = TcpTransport.port(port);
            return tcp.isPresent() ? TcpTransport.open(tcp.get(), TO_CONNECT) : SerialConsole.open(port, baud());
        }

        /** Opens the port that is the board's console. */
        public Transport open() {
            return open(port());
        }

        /** A port's name for people, a serial one's with its speed. */
        String name(String port) {
            return TcpTransport.port(port).isPresent() ? port : port + " at " + baud() + " baud";
        }

        int baud() {
            return spec.baud().orElse(board.console().map(Board.Console::baud).orElse(DEFAULT_BAUD));
        }

        private PortChoice choice(Optional<String> serial) {
            return new PortChoice(
                    spec.port(), serial, board.console().map(Board.Console::usb).orElse(List.of()));
        }
    }
}
