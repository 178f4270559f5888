// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.mlperf;

import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problems;
import io.kiln.base.WholeFiles;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.mlperf.MlperfDevice;
import io.kiln.device.mlperf.MlperfDevice.Inference;
import io.kiln.device.mlperf.MlperfDevice.Limits;
import io.kiln.device.transport.Transport;
import io.kiln.firmware.app.MlperfOptions.Benchmark;
import io.kiln.flow.device.MonitorStep.BoardConsole;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.DeviceSpec.MlperfSpec;
import io.kiln.report.Json;
import io.kiln.report.MlperfReport;
import io.kiln.report.MlperfReport.Accuracy;
import io.kiln.report.MlperfReport.Answer;
import io.kiln.report.MlperfReport.Performance;
import io.kiln.report.MlperfReport.Result;
import io.kiln.report.MlperfReport.Streaming;
import io.kiln.report.Table;
import io.kiln.toolchain.board.Board;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.BiFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Measures an image as the benchmark's own runner does: accuracy with one inference for each input, performance with five inputs and as many
 * inferences as take ten seconds. An emulator's clock counts instructions, so that ten inferences are enough there.
 */
public final class MlperfStep {
    private static final int INPUTS = 5;
    private static final int FEWEST_RUNS = 10;
    private static final int MOST_WARMUPS = 10;

    /** Microseconds that the inferences with an input take at least, and that a runner waits at most. */
    private static final double LEAST_TIME = 10.5e6;

    private static final double MARGIN = 0.5e6;
    private static final double MOST_TIME = 30e6;

    /** Microseconds of inferences by which the time of one is known. */
    private static final double TRIAL_TIME = 1e6;

    /** No core computes as many inferences in that time. */
    private static final int MOST_TRIALS = 100_000_000;

    private static final Duration EMULATOR_LIMIT = Duration.ofHours(12);

    private final Log log;
    private final Board board;
    private final Layout layout;
    private final MlperfSpec spec;
    private String device = "";
    private String benchmark = "";
    private Streaming streaming;

    /** A step; the image runs in the board's emulator unless the specification names a port. */
    public MlperfStep(Log log, Board board, Layout layout, MlperfSpec spec) {
        this.log = log;
        this.board = board;
        this.layout = layout;
        this.spec = spec;
    }

    /**
     * Measures, and writes {@code mlperf.json} and the files of the runs.
     *
     * @throws KilnException if the device does not answer, or the inputs do not suit it
     */
    public void run() {
        Accuracy accuracy = spec.run().isAccuracy() ? session("accuracy", this::accuracy) : null;
        Performance performance = spec.run().isPerformance() ? session("performance", this::performance) : null;
        Path file = layout.reports().resolve("mlperf.json");
        Json.write(
                file,
                new MlperfReport(
                        MlperfReport.NOTICE, benchmark, device, board.id(), ranOn(), accuracy, performance, streaming));
        if (streaming != null) {
            sayStreaming();
        } else {
            sayResults(accuracy, performance);
        }
        log.info(MlperfReport.NOTICE + (isEmulated() ? " An emulator's time is the number of instructions." : ""));
        log.info("Measured on " + ranOn() + "; see " + file + " and the folder mlperf beside it");
    }

    private void sayStreaming() {
        Table table = new Table("Benchmark", "Device", "Words", "Missed", "False", "Duty cycle", "Frames/s");
        table.row(
                benchmark,
                device,
                String.valueOf(streaming.words()),
                String.valueOf(streaming.falseNegatives()),
                String.valueOf(streaming.falsePositives()),
                text("%.1f%%", 100 * streaming.dutyCycle()),
                text("%.3f", streaming.throughput()));
        table.lines().forEach(log::answer);
    }

    private void sayResults(Accuracy accuracy, Performance performance) {
        Table table = new Table("Benchmark", "Device", "Top-1", "AUC", "Inferences/s");
        table.row(
                benchmark,
                device,
                accuracy == null || accuracy.top1() == null ? "-" : text("%.1f%%", 100 * accuracy.top1()),
                accuracy == null || accuracy.auc() == null ? "-" : text("%.3f", accuracy.auc()),
                performance == null ? "-" : text("%.3f", performance.medianThroughput()));
        table.lines().forEach(log::answer);
    }

    private boolean isEmulated() {
        return spec.console().isEmpty();
    }

    private String ranOn() {
        return spec.console()
                .flatMap(console -> console.port().or(() -> Optional.of("serial port")))
                .orElseGet(() -> Emulator.of(board, EMULATOR_LIMIT).name());
    }

    /** Connects, measures one thing, and writes the three files that a submission has of it. */
    private <R> R session(String name, BiFunction<MlperfDevice, List<Result>, R> measure) {
        Path folder = layout.reports().resolve("mlperf").resolve(name);
        Path transcript = folder.resolve("log.txt");
        try (BufferedWriter lines = transcript(transcript);
                Transport line = open();
                MlperfDevice connected = new MlperfDevice(
                        line, isEmulated() ? Limits.OF_EMULATOR : Limits.OF_RUNNER, text -> write(lines, text))) {
            write(lines, MlperfReport.NOTICE);
            device = connected.name();
            benchmark = connected.benchmark();
            List<Result> results = new ArrayList<>();
            R measured = measure.apply(connected, results);
            Json.write(folder.resolve("results.json"), results);
            return measured;
        } catch (IOException | UncheckedIOException e) {
            throw FileFailure.of("cannot write", transcript, e);
        }
    }

    private static BufferedWriter transcript(Path file) throws IOException {
        Files.createDirectories(file.getParent());
        return Files.newBufferedWriter(file);
    }

    private static void write(BufferedWriter lines, String text) {
        try {
            lines.write(text);
            lines.write('\n');
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Transport open() {
        return spec.console()
                .map(console -> new BoardConsole(board, console).open())
                .orElseGet(() -> Emulator.of(board, EMULATOR_LIMIT).boot(layout.image("elf")));
    }

    private Accuracy accuracy(MlperfDevice connected, List<Result> results) {
        if (isStreaming(connected, "accuracy")) {
            return null;
        }
        List<LabelledInput> inputs = LabelledInput.read(spec.data(), benchmark);
        List<List<Inference>> answers = new ArrayList<>();
        for (LabelledInput input : inputs) {
            List<Inference> windows = new ArrayList<>();
            for (byte[] window : input.windows()) {
                connected.load(window);
                windows.add(connected.infer(1, 0));
                results.add(result(input, windows.get(windows.size() - 1)));
            }
            answers.add(windows);
        }
        Accuracy scored = score(inputs, answers);
        lines(
                "accuracy",
                scored.top1() == null ? List.of() : List.of(text("Top 1%% = %.1f", 100 * scored.top1())),
                scored.auc() == null ? List.of() : List.of(text("AUC = %.3f", scored.auc())));
        return scored;
    }

    private Accuracy score(List<LabelledInput> inputs, List<List<Inference>> answers) {
        int[] labels = inputs.stream().mapToInt(LabelledInput::label).toArray();
        boolean findsAnomalies = Benchmark.AD01.id().equals(benchmark);
        int results = answers.stream()
                .flatMap(List::stream)
                .mapToInt(answer -> answer.results().size())
                .min()
                .orElseThrow();
        // Of anomalies there is one result, the more the farther from normal; of classes each has one.
        OptionalDouble area = IntStream.range(0, results)
                .mapToObj(k -> areaUnderCurve(
                        answers.stream()
                                .mapToDouble(windows -> mean(windows, k))
                                .toArray(),
                        is(labels, findsAnomalies ? 1 : k)))
                .flatMapToDouble(OptionalDouble::stream)
                .average();
        int[] found = answers.stream()
                .mapToInt(windows ->
                        majority(windows.stream().map(Inference::largest).toList()))
                .toArray();
        return new Accuracy(
                inputs.size(),
                findsAnomalies ? null : right(found, labels),
                area.isPresent() ? area.getAsDouble() : null);
    }

    private static double mean(List<Inference> windows, int result) {
        return windows.stream()
                .mapToDouble(window -> window.results().get(result))
                .average()
                .orElseThrow();
    }

    private static boolean[] is(int[] labels, int label) {
        boolean[] is = new boolean[labels.length];
        for (int i = 0; i < labels.length; i++) {
            is[i] = labels[i] == label;
        }
        return is;
    }

    /** Whether the device listens, which is measured all at once. */
    private boolean isStreaming(MlperfDevice connected, String run) {
        if (!Benchmark.SWW01.id().equals(benchmark)) {
            return false;
        }
        if (streaming == null) {
            streaming = WakeWords.measure(connected, spec.data(), benchmark);
        }
        lines(
                run,
                List.of(
                        "False negatives = " + streaming.falseNegatives(),
                        "False positives = " + streaming.falsePositives()),
                List.of(
                        text("Mean duty cycle = %.4f", streaming.dutyCycle()),
                        text("Median throughput is %10.3f inf./sec.", streaming.throughput())));
        return true;
    }

    private Performance performance(MlperfDevice connected, List<Result> results) {
        if (isStreaming(connected, "performance")) {
            return null;
        }
        List<LabelledInput> inputs = LabelledInput.read(spec.data(), benchmark);
        if (inputs.size() < INPUTS) {
            throw Failure.SAMPLES.exception(
                    "there are " + inputs.size() + " inputs", spec.data().toString(), INPUTS + " or more");
        }
        List<Double> throughputs = new ArrayList<>();
        for (LabelledInput input : inputs.subList(0, INPUTS)) {
            connected.load(input.windows().get(0));
            Inference measured = measured(connected);
            results.add(result(input, measured));
            throughputs.add(measured.throughput());
        }
        Performance performance = new Performance(median(throughputs), throughputs);
        lines(
                "performance",
                throughputs.stream()
                        .map(each -> text("Throughput is %10.3f inf./sec.", each))
                        .toList(),
                List.of(text("Median throughput is %10.3f inf./sec.", performance.medianThroughput())));
        return performance;
    }

    /** As many inferences as take long enough, after some for warming up. */
    private Inference measured(MlperfDevice connected) {
        if (isEmulated()) {
            return connected.infer(FEWEST_RUNS, 1);
        }
        Inference trial = trial(connected);
        double one = (double) trial.elapsed() / trial.iterations();
        int iterations = forTime(trial, LEAST_TIME);
        if (iterations * one > MOST_TIME) {
            throw Failure.PROFILE.exception(
                    text("an inference takes %.1f s", one / 1e6), benchmark, "at most 30 s, as a runner waits");
        }
        Inference measured = connected.infer(iterations, (int) Math.min(MOST_WARMUPS, MOST_TIME / 2 / one));
        return measured.elapsed() < LEAST_TIME - MARGIN ? connected.infer(forTime(measured, LEAST_TIME), 0) : measured;
    }

    /** Inferences that take long enough to tell the time of one; not for ever if the device's clock stands still. */
    static Inference trial(MlperfDevice connected) {
        Inference trial = connected.infer(1, 0);
        while (trial.elapsed() < TRIAL_TIME) {
            if (trial.iterations() >= MOST_TRIALS) {
                throw Failure.PROFILE.exception(
                        trial.iterations() + " inferences take " + trial.elapsed() + " microseconds by its clock",
                        connected.benchmark(),
                        "a clock that counts microseconds");
            }
            trial = connected.infer(forTime(trial, TRIAL_TIME), 0);
        }
        return trial;
    }

    /** How many inferences take some microseconds, by what those before took; more than those, and not a hundred times as many. */
    private static int forTime(Inference before, double microseconds) {
        double one = Math.max(1, before.elapsed()) / (double) before.iterations();
        double most = Math.min(Integer.MAX_VALUE / 2.0, 100.0 * before.iterations());
        return (int) Math.max(before.iterations() + 1.0, Math.min(most, Math.ceil(microseconds / one)));
    }

    private static Result result(LabelledInput input, Inference answer) {
        return new Result(
                input.file().getFileName().toString(),
                input.classes(),
                input.label(),
                input.width(),
                input.stride(),
                new Answer(
                        answer.results(),
                        answer.start(),
                        answer.end(),
                        answer.elapsed(),
                        answer.iterations() + answer.warmups(),
                        answer.iterations(),
                        answer.warmups(),
                        answer.throughput()));
    }

    /** Writes the lines of {@code results.txt} that the benchmark's checker reads. */
    private void lines(String run, List<String> first, List<String> second) {
        String text = Stream.of(List.of(MlperfReport.NOTICE), first, second)
                .flatMap(List::stream)
                .map(line -> "ulp-mlperf: " + line + "\n")
                .collect(Collectors.joining());
        WholeFiles.write(layout.reports().resolve("mlperf").resolve(run).resolve("results.txt"), text);
    }

    private static String text(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }

    /**
     * The probability that a positive value is above a negative one, equal ones counted half: the area under the curve of true against false
     * positives.
     *
     * @return empty if there are only positive ones, or none
     */
    private static OptionalDouble areaUnderCurve(double[] values, boolean[] isPositive) {
        int[] order = IntStream.range(0, values.length)
                .boxed()
                .sorted(Comparator.comparingDouble(i -> values[i]))
                .mapToInt(Integer::intValue)
                .toArray();
        double ranks = 0;
        long positives = 0;
        for (int from = 0; from < order.length; ) {
            int to = from;
            while (to < order.length && values[order[to]] == values[order[from]]) {
                to++;
            }
            double rank = (from + 1 + to) / 2.0; // the mean of the ranks from + 1 to to
            for (int i = from; i < to; i++) {
                ranks += isPositive[order[i]] ? rank : 0;
                positives += isPositive[order[i]] ? 1 : 0;
            }
            from = to;
        }
        long negatives = values.length - positives;
        return positives == 0 || negatives == 0
                ? OptionalDouble.empty()
                : OptionalDouble.of((ranks - positives * (positives + 1) / 2.0) / (positives * (double) negatives));
    }

    /** The part of answers that are the labels. */
    private static double right(int[] answers, int[] labels) {
        return IntStream.range(0, labels.length)
                        .filter(i -> answers[i] == labels[i])
                        .count()
                / (double) labels.length;
    }

    /** The answer that most windows of an input give, the first of those that equally many give. */
    private static int majority(List<Integer> answers) {
        int most = answers.stream().mapToInt(Integer::intValue).max().orElseThrow();
        int[] votes = new int[most + 1];
        answers.forEach(answer -> votes[answer]++);
        int largest = Arrays.stream(votes).max().orElseThrow();
        return IntStream.rangeClosed(0, most)
                .filter(answer -> votes[answer] == largest)
                .findFirst()
                .orElseThrow();
    }

    /** The median; of an even number of values the lower one. */
    private static double median(List<Double> values) {
        return values.stream().sorted().toList().get((values.size() - 1) / 2);
    }

    /**
     * A line of {@code y_labels.csv}: an input and its right answer.
     *
     * @param file name of the file, in the list's folder
     * @param classes number of classes
     * @param label the right one
     * @param width bytes of what is sent at once, a window that slides over the file; 0 for the whole file
     * @param stride bytes by which the window slides
     */
    record LabelledInput(Path file, int classes, int label, int width, int stride) {
        private static final String LIST = "y_labels.csv";
        private static final String FORM =
                "file,classes,class or file,classes,class,bytes of a window,bytes of a stride";

        /** A name without folders, so that nothing outside of the folder is read. */
        private static final Pattern LINE = Pattern.compile(
                "([A-Za-z0-9_][A-Za-z0-9_.-]{0,199}),([0-9]{1,4}),([0-9]{1,4})(?:,([0-9]{1,7}),([0-9]{1,7}))?");

        private static final long LARGEST_LIST = 4L << 20;
        private static final long LARGEST_FILE = 16L << 20;
        private static final long LARGEST_WINDOWS = 64L << 20;

        /**
         * The inputs of a folder, or of the one in it that is named like a benchmark.
         *
         * @throws KilnException with all lines that are wrong
         */
        static List<LabelledInput> read(Path data, String benchmark) {
            Path inner = data.resolve(benchmark).resolve(LIST);
            Path list = Files.isRegularFile(inner) ? inner : data.resolve(LIST);
            List<String> lines = new String(bytes(list, LARGEST_LIST), StandardCharsets.US_ASCII)
                    .lines()
                    .map(String::strip)
                    .filter(line -> !line.isEmpty())
                    .toList();
            Problems problems = new Problems(Failure.SAMPLES);
            List<LabelledInput> inputs = new ArrayList<>();
            for (int i = 0; i < lines.size(); i++) {
                Matcher line = LINE.matcher(lines.get(i));
                LabelledInput input = line.matches() ? of(list, line) : null;
                if (input != null && input.label < input.classes && (input.width == 0 || input.stride > 0)) {
                    inputs.add(input);
                } else if (i > 0 || line.matches()) {
                    problems.add("this line lists no input: " + lines.get(i), list + ":" + (i + 1), FORM);
                }
            }
            if (inputs.isEmpty()) {
                problems.add("no inputs are listed", list.toString(), FORM);
            }
            problems.throwIfAny();
            return inputs;
        }

        private static LabelledInput of(Path list, Matcher line) {
            return new LabelledInput(
                    list.resolveSibling(line.group(1)),
                    Integer.parseInt(line.group(2)),
                    Integer.parseInt(line.group(3)),
                    line.group(4) == null ? 0 : Integer.parseInt(line.group(4)),
                    line.group(5) == null ? 0 : Integer.parseInt(line.group(5)));
        }

        /** What is sent of it, one after the other. */
        List<byte[]> windows() {
            byte[] all = bytes(file, LARGEST_FILE);
            if (width == 0) {
                return List.of(all);
            }
            if ((long) (all.length - width) / stride * width > LARGEST_WINDOWS) {
                throw Failure.SAMPLES.exception(
                        "there are too many windows of " + width + " bytes",
                        file.toString(),
                        "at most " + LARGEST_WINDOWS + " bytes in all");
            }
            List<byte[]> windows = new ArrayList<>();
            for (int from = 0; from + width <= all.length; from += stride) {
                windows.add(Arrays.copyOfRange(all, from, from + width));
            }
            if (windows.isEmpty()) {
                throw Failure.SAMPLES.exception(
                        "the file has " + all.length + " bytes", file.toString(), width + " or more");
            }
            return windows;
        }

        private static byte[] bytes(Path file, long most) {
            return WholeFiles.read(file, most, Failure.SAMPLES).toArray();
        }
    }
}
