// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.mlperf;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.device.transport.TimedBytes;
import io.kiln.device.transport.TimedInput;
import io.kiln.device.transport.Transport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A device that answers commands of MLPerf Tiny. It is asked as the benchmark's own runner asks, to the byte: one command after the other, each
 * once the last one's answer has ended with {@code m-ready}. Not thread-safe.
 */
public final class MlperfDevice implements AutoCloseable {
    private static final String READY = "m-ready";
    private static final int TRIES = 3;

    /** Bytes that a command loads. */
    private static final int PIECE = 31;

    /** Bytes that a command loads into a device that listens, whose commands may be longer. */
    private static final int PIECE_OF_SOUND = 512;

    private static final int LONGEST_LINE = 1 << 16;
    private static final int MOST_LINES = 1 << 12;

    private static final Pattern LAP = Pattern.compile("m-lap-us-([0-9]{1,18})");
    private static final Pattern RESULTS = Pattern.compile("m-results-\\[([^]]+)]");
    private static final Pattern ACTIVATIONS = Pattern.compile("m-activations-\\[([^]]+)]");
    private static final Pattern SINCE_THE_START = Pattern.compile("\\[([^]]*)]");
    private static final Pattern NAME = Pattern.compile("m-name-dut-\\[([^]]+)]");

    /** A folder is called like it. */
    private static final Pattern MODEL = Pattern.compile("m-model-\\[([A-Za-z0-9][A-Za-z0-9_.-]{0,60})]");

    /** What a device says in place of an error, and goes on with an input that nobody loaded. */
    private static final Pattern REFUSAL = Pattern.compile("e-\\[.*|Input db has .*|Supplied buffer size .*");

    private final Transport line;
    private final TimedInput input;
    private final Limits limits;
    private final Consumer<String> log;

    /**
     * How long the next line of an answer may take.
     *
     * @param line of any command
     * @param inference of the command that runs the model
     */
    public record Limits(Duration line, Duration inference) {
        /** Those of the benchmark's own runner. */
        public static final Limits OF_RUNNER = new Limits(Duration.ofSeconds(5), Duration.ofSeconds(30));

        /** For an emulator on a busy computer. */
        public static final Limits OF_EMULATOR = new Limits(Duration.ofSeconds(60), Duration.ofMinutes(10));
    }

    /**
     * Begins to listen; closing it leaves the line open.
     *
     * @param line an open line
     * @param limits how long answers may take
     * @param log gets each command after {@code "> "} and each line of an answer after {@code "< "}
     */
    public MlperfDevice(Transport line, Limits limits, Consumer<String> log) {
        this.line = line;
        this.limits = limits;
        this.log = log;
        this.input = new TimedInput(line.input());
    }

    /**
     * Waits for a program that has just been started, and asks for its name. What comes before an answer on a line that was open already is
     * skipped.
     *
     * @throws KilnException if nothing answers
     */
    public String name() {
        if (line.ownsProgram()) {
            answer("its start", limits.line());
        }
        KilnException last = null;
        for (int i = 0; i < TRIES; i++) {
            try {
                return one(NAME, "name", ask("name"));
            } catch (KilnException e) {
                last = e;
            }
        }
        throw last;
    }

    /** The benchmark's id, such as {@code kws01}. */
    public String benchmark() {
        return one(MODEL, "profile", ask("profile"));
    }

    /** Loads an input. */
    public void load(byte[] bytes) {
        load(bytes, PIECE);
    }

    private void load(byte[] bytes, int most) {
        ask("db load " + bytes.length);
        for (int from = 0; from < bytes.length; from += most) {
            byte[] piece = Arrays.copyOfRange(bytes, from, Math.min(bytes.length, from + most));
            ask("db " + HexFormat.of().formatHex(piece));
        }
    }

    /** Runs the model on the input that was loaded last. */
    public Inference infer(int iterations, int warmups) {
        String command = "infer " + iterations + " " + warmups;
        List<String> answer = ask(command, limits.inference());
        List<Long> laps = matches(LAP, answer).map(Long::valueOf).toList();
        if (laps.size() < 2) {
            throw failure(
                    "it gave no times", command, "an image that measures performance, not one that measures energy");
        }
        return new Inference(
                numbers(one(RESULTS, command, answer)), laps.get(0), laps.get(laps.size() - 1), iterations, warmups);
    }

    /** Begins to listen anew, with silence before. */
    public void start() {
        ask("start");
    }

    /**
     * Lets a device that listens hear a chunk of sound: its answer is an inference without warm-ups, whose results are the model's output.
     *
     * @param chunk samples of 16 bits, little endian, as many as the device expects
     */
    public Inference hear(byte[] chunk) {
        load(chunk, PIECE_OF_SOUND);
        String command = "extract_uart_stream";
        List<String> answer = ask(command, limits.inference());
        List<Long> laps = matches(LAP, answer).map(Long::valueOf).toList();
        long start = laps.isEmpty() ? 0 : laps.get(0);
        long end = laps.isEmpty() ? 0 : laps.get(laps.size() - 1);
        return new Inference(numbers(one(ACTIVATIONS, command, answer)), start, end, 1, 0);
    }

    /** Stops listening; the probabilities of the word since the start, as the device has kept them. */
    public List<Double> stop() {
        return numbers(one(SINCE_THE_START, "stop", ask("stop")));
    }

    private static List<Double> numbers(String text) {
        List<Double> numbers = new ArrayList<>();
        for (String number : text.split(",", -1)) {
            if (!number.isBlank()) {
                double value = number(number);
                if (!Double.isFinite(value)) {
                    throw failure("a result is '" + number + "'", "infer", "numbers");
                }
                numbers.add(value);
            }
        }
        return numbers;
    }

    private static double number(String text) {
        try {
            return Double.parseDouble(text.strip());
        } catch (NumberFormatException e) {
            return Double.NaN;
        }
    }

    private List<String> ask(String command) {
        return ask(command, limits.line());
    }

    private List<String> ask(String command, Duration limit) {
        log.accept("> " + command + "%");
        try {
            line.output().write((command + "%").getBytes(StandardCharsets.US_ASCII));
            line.output().flush();
        } catch (IOException e) {
            throw line.explained(failure("the line is closed", command, "an open line", e));
        }
        List<String> answer = answer(command, limit);
        answer.stream()
                .filter(text -> REFUSAL.matcher(text).matches())
                .findFirst()
                .ifPresent(text -> {
                    throw failure("it answered " + text, command, "no error");
                });
        return answer;
    }

    private List<String> answer(String command, Duration limit) {
        List<String> lines = new ArrayList<>();
        while (lines.isEmpty() || !lines.get(lines.size() - 1).contains(READY)) {
            if (lines.size() == MOST_LINES) {
                throw failure("its answer has more than " + MOST_LINES + " lines", command, READY);
            }
            lines.add(next(command, limit));
            log.accept("< " + lines.get(lines.size() - 1));
        }
        return lines;
    }

    private String next(String command, Duration limit) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        long end = input.now() + limit.toNanos();
        for (int value = input.read(end); value != '\n'; value = input.read(end)) {
            if (value < 0 || text.size() == LONGEST_LINE) {
                throw line.explained(failure(ending(value, limit), command, "a line that ends with " + READY));
            }
            if (value != '\r' && value != 0) {
                text.write(value);
            }
        }
        return text.toString(StandardCharsets.US_ASCII);
    }

    private static String ending(int value, Duration limit) {
        return switch (value) {
            case TimedBytes.END -> "the line was closed";
            case TimedBytes.LATE -> "no line came for " + limit.toSeconds() + " s";
            default -> "a line is longer than " + LONGEST_LINE + " characters";
        };
    }

    private static String one(Pattern pattern, String command, List<String> answer) {
        Optional<String> found = matches(pattern, answer).findFirst();
        return found.orElseThrow(() -> failure("its answer is " + answer, command, pattern.pattern()));
    }

    private static Stream<String> matches(Pattern pattern, List<String> answer) {
        return answer.stream().map(pattern::matcher).filter(Matcher::matches).map(found -> found.group(1));
    }

    private static KilnException failure(String what, String command, String expected) {
        return Failure.RUN.exception(
                "the device failed: " + what,
                command,
                expected,
                "See log.txt; an image for it is built with kiln.application=mlperf-tiny");
    }

    private static KilnException failure(String what, String command, String expected, Exception cause) {
        KilnException failure = failure(what, command, expected);
        failure.initCause(cause);
        return failure;
    }

    @Override
    public void close() {
        input.close();
    }

    /**
     * What a device says of some inferences with one input.
     *
     * @param results of the last one
     * @param start microseconds of the device's clock before them
     * @param end likewise behind them
     * @param iterations number of inferences
     * @param warmups inferences before them that are not measured
     */
    public record Inference(List<Double> results, long start, long end, int iterations, int warmups) {
        private static final double MICROSECONDS = 1e6;

        public Inference {
            results = List.copyOf(results);
        }

        /** Microseconds of all inferences. */
        public long elapsed() {
            return end - start;
        }

        /** Inferences per second; 0 if the clock has not moved. */
        public double throughput() {
            return elapsed() == 0 ? 0 : iterations * MICROSECONDS / elapsed();
        }

        /** The place of the largest result, the first of equal ones. */
        public int largest() {
            int largest = 0;
            for (int i = 1; i < results.size(); i++) {
                largest = results.get(i) > results.get(largest) ? i : largest;
            }
            return largest;
        }
    }
}
