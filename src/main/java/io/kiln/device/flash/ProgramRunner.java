// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.base.WholeFiles.TemporaryFolder;
import io.kiln.device.flash.FlashFailure.FailureRules;
import io.kiln.device.flash.FlashFailure.Kind;
import io.kiln.device.flash.FlashRunner.FlashImage.Segment;
import io.kiln.firmware.image.ImageFiles.LoadImage;
import io.kiln.firmware.image.ImageFiles.Uf2;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.Executables;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.toolchain.board.Flashing;
import io.kiln.toolchain.board.RunnerDefinition;
import io.kiln.toolchain.board.RunnerDefinition.Form;
import io.kiln.toolchain.board.RunnerDefinition.Runners;
import io.kiln.toolchain.board.RunnerDefinition.Step;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Flashes boards with a program that is described by data. A run of it that ends with exit code 0 is not believed alone.
 *
 * @param how the program, and what the board says about it
 * @param program where it is
 * @param probes at least one
 * @param uf2Family the chip's family, for programs that take UF2
 */
public record ProgramRunner(
        Flashing.Program how, Path program, List<Probe> probes, OptionalLong uf2Family, OpenOcdRunner.Manner manner)
        implements FlashRunner {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Pattern VERSION = Pattern.compile("[0-9]+(\\.[0-9]+)+[A-Za-z0-9.+-]*");

    public ProgramRunner {
        probes = List.copyOf(probes);
    }

    /**
     * Looks for the program.
     *
     * @param asked its path, or its name on the PATH; empty for the definition's own names
     * @throws KilnException if it is missing
     */
    public static Path find(RunnerDefinition definition, Optional<String> asked) {
        List<String> names = asked.map(List::of).orElse(definition.program().names());
        return names.stream()
                .flatMap(name -> Stream.concat(Executables.find(name).stream(), Stream.of(Path.of(name))))
                .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
                .map(Path::toAbsolutePath)
                .findFirst()
                .orElseThrow(() -> FlashFailure.before(
                                Kind.NO_PROGRAM,
                                "no '" + String.join("' or '", names) + "' on the PATH ("
                                        + definition.title() + "). "
                                        + definition.program().install())
                        .exception("kiln.flash.runner"));
    }

    @Override
    public String tool() {
        String title = how.definition().title();
        List<String> question = how.definition().program().version();
        if (question.isEmpty()) {
            return title;
        }
        ProcessResult answer =
                ProcessRunner.run(Command.of(program.toString(), question).within(PATIENCE));
        Matcher version = VERSION.matcher(answer.output() + answer.errors());
        return version.find() ? title + " " + version.group() : title;
    }

    @Override
    public List<Probe> probes() {
        return probes;
    }

    @Override
    public boolean verifies() {
        return how.definition().procedure().verifies();
    }

    @Override
    public FlashResult flash(Probe probe, FlashImage image, FlashProgress progress) {
        long start = System.nanoTime();
        Session session = new Session(image);
        Optional<FlashFailure> failure = TemporaryFolder.use("kiln-flash", folder -> {
            try {
                ProgramSteps steps = new ProgramSteps(how, probe, image, folder);
                steps.writeFiles(uf2Family);
                return session.run(steps, folder);
            } catch (KilnException e) {
                if (!Thread.currentThread().isInterrupted()) {
                    throw e;
                }
                return Optional.of(FlashFailure.interrupted(true));
            } finally {
                // An interrupted thread writes no files.
                boolean isInterrupted = Thread.interrupted();
                WholeFiles.write(manner.log(probe, probes.size()), session.said.toString());
                if (isInterrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        });
        return new FlashResult(probe, false, image.size(), Duration.ofNanos(System.nanoTime() - start), failure);
    }

    /** Flashing of one device. */
    private final class Session {
        private final FlashImage image;
        private final StringBuilder said = new StringBuilder();
        private int compared;

        Session(FlashImage image) {
            this.image = image;
        }

        Optional<FlashFailure> run(ProgramSteps steps, Path folder) {
            for (ProgramSteps.Run each : steps.runs()) {
                Optional<FlashFailure> failure = run(each, folder);
                if (failure.isEmpty()) {
                    failure = steps.difference();
                    compared += steps.compared();
                }
                if (failure.isPresent()) {
                    return failure;
                }
            }
            if (how.definition().procedure().readsBack()
                    && compared < image.segments().size()) {
                String detail =
                        "it read " + compared + " of " + image.segments().size() + " ranges back";
                return Optional.of(new FlashFailure(Kind.OTHER, detail, OptionalLong.empty(), true));
            }
            return Optional.empty();
        }

        private Optional<FlashFailure> run(ProgramSteps.Run run, Path folder) {
            Command command = Command.of(program.toString(), run.arguments())
                    .in(folder)
                    .owning(folder)
                    .within(manner.limit());
            ProcessResult result = ProcessRunner.run(command);
            said.append("$ ")
                    .append(command.text())
                    .append('\n')
                    .append(result.output())
                    .append(result.errors());
            said.append("exit code ").append(result.exitCode()).append('\n');
            if (result.timedOut()) {
                String detail = "after " + manner.limit().toSeconds() + " s";
                return Optional.of(new FlashFailure(Kind.TIME_OUT, detail, OptionalLong.empty(), hasBegun()));
            }
            boolean saysSo = run.expect()
                    .map(text -> Pattern.compile(text)
                            .matcher(result.output() + "\n" + result.errors())
                            .find())
                    .orElse(true);
            return result.exitCode() == 0 && saysSo ? Optional.empty() : Optional.of(failure(result));
        }

        private boolean hasBegun() {
            return how.definition()
                    .procedure()
                    .begins()
                    .map(text -> Pattern.compile(text).matcher(said).find())
                    .orElse(false);
        }

        private FlashFailure failure(ProcessResult result) {
            // Programs that draw a bar go back to the start of the line.
            List<String> lines = (result.errors() + "\n" + result.output())
                    .lines()
                    .flatMap(line -> Stream.of(line.split("\r", -1)))
                    .map(String::strip)
                    .filter(line -> !line.isEmpty())
                    .toList();
            return FailureRules.classify(rules(), lines, hasBegun()).orElseGet(() -> {
                String last = lines.isEmpty() ? "it said nothing" : lines.get(lines.size() - 1);
                String detail = "exit code " + result.exitCode() + ", " + last;
                return new FlashFailure(Kind.OTHER, detail, OptionalLong.empty(), hasBegun());
            });
        }

        private List<FailureRules.Rule> rules() {
            List<FailureRules.Rule> rules = new ArrayList<>();
            how.definition()
                    .procedure()
                    .failures()
                    .forEach(each ->
                            rules.add(new FailureRules.Rule(Kind.of(each.kind()), Pattern.compile(each.text()))));
            return rules;
        }
    }

    /** Does nothing: nothing is held between runs of the program. */
    @Override
    public void close() {}

    /** The runs of a program that flash one image, and the files that they work with. */
    static final class ProgramSteps {
        private static final Pattern OF_SEGMENT = Pattern.compile("\\{(bin|address|size|hexsize|offset|readback)}");
        private static final String PROBE = "{probe}";
        private static final int HEXADECIMAL = 16;

        private final Flashing.Program how;
        private final Map<String, String> values;
        private final Probe probe;
        private final FlashImage image;
        private final Path folder;
        private int compared;

        ProgramSteps(Flashing.Program how, Probe probe, FlashImage image, Path folder) {
            this.how = how;
            this.values = how.definition().values(how.values());
            this.probe = probe;
            this.image = image;
            this.folder = folder;
        }

        /**
         * One run.
         *
         * @param arguments without placeholders
         * @param expect what it prints if it succeeds
         */
        record Run(List<String> arguments, Optional<String> expect) {}

        /**
         * Writes the image and the scripts.
         *
         * @throws KilnException if UF2 is wanted and there is no family
         */
        void writeFiles(OptionalLong uf2Family) {
            if (how.definition().form() == Form.HEX) {
                WholeFiles.write(folder.resolve(imageFile()), load(image).intelHex());
            } else if (how.definition().form() == Form.UF2) {
                WholeFiles.write(folder.resolve(imageFile()), uf2(image, uf2Family));
            }
            for (int i = 0; i < image.segments().size(); i++) {
                WholeFiles.write(
                        folder.resolve(file("segment", i)),
                        image.segments().get(i).content().toArray());
            }
            how.definition().procedure().files().forEach((name, lines) -> {
                List<String> text = new ArrayList<>();
                lines.forEach(line -> expanded(List.of(line)).forEach(text::addAll));
                WholeFiles.write(folder.resolve(name), String.join("\n", text) + "\n");
            });
        }

        /** An image as UF2. */
        static byte[] uf2(FlashImage image, OptionalLong family) {
            return Uf2.of(
                    load(image),
                    family.orElseThrow(() -> Failure.BOARD.exception(
                            "the board does not say which UF2 files its boot loader takes",
                            "board.yaml",
                            "uf2: {family: NUMBER}")));
        }

        private static LoadImage load(FlashImage image) {
            return new LoadImage(
                    image.segments().stream()
                            .map(each -> new LoadImage.Block(each.address(), each.content()))
                            .toList(),
                    start(image));
        }

        private static long start(FlashImage image) {
            return image.segments().get(0).address();
        }

        private String imageFile() {
            return "image." + how.definition().form().name().toLowerCase(Locale.ROOT);
        }

        private static String file(String kind, int segment) {
            return kind + segment + ".bin";
        }

        /** The runs, in order. */
        List<Run> runs() {
            List<Run> runs = new ArrayList<>();
            for (Step step : how.definition().procedure().steps()) {
                expanded(step.arguments()).forEach(arguments -> runs.add(new Run(arguments, step.expect())));
            }
            return runs;
        }

        /** Words without placeholders: once, or once for each segment if they are about one. */
        private List<List<String>> expanded(List<String> words) {
            boolean isOfSegment =
                    words.stream().anyMatch(word -> OF_SEGMENT.matcher(word).find());
            List<List<String>> all = new ArrayList<>();
            for (int i = 0; i < (isOfSegment ? image.segments().size() : 1); i++) {
                List<String> line = new ArrayList<>();
                for (String word : words) {
                    if (word.equals(PROBE)) {
                        line.addAll(probeArguments());
                    } else {
                        int segment = i;
                        line.add(Runners.expand(word, name -> value(name, segment)));
                    }
                }
                all.add(line);
            }
            return all;
        }

        private List<String> probeArguments() {
            if (probe instanceof Probe.Any) {
                return List.of();
            }
            return how.definition().probe().arguments().stream()
                    .map(each -> each.replace("{name}", probe.text()))
                    .toList();
        }

        private Optional<String> value(String name, int number) {
            Segment segment = image.segments().get(number);
            int size = segment.content().size();
            return Optional.ofNullable(
                    switch (name) {
                        case "image" -> imageFile();
                        case "start" -> Tcl.address(start(image));
                        case "bin" -> file("segment", number);
                        case "address" -> Tcl.address(segment.address());
                        case "size" -> String.valueOf(size);
                        case "hexsize" -> "0x" + Integer.toHexString(size);
                        case "offset" -> "0x" + Long.toHexString(segment.address() - base());
                        case "readback" -> file("readback", number);
                        default -> values.get(name);
                    });
        }

        private long base() {
            String base = values.getOrDefault("base", "0");
            return base.startsWith("0x") ? Long.parseLong(base.substring(2), HEXADECIMAL) : Long.parseLong(base);
        }

        /** The number of segments that the last {@link #difference} compared. */
        int compared() {
            return compared;
        }

        /** Compares what the program has read back since the last time, which is then gone. */
        Optional<FlashFailure> difference() {
            compared = 0;
            for (int i = 0; i < image.segments().size(); i++) {
                Path file = folder.resolve(file("readback", i));
                if (Files.isRegularFile(file)) {
                    compared++;
                    Optional<FlashFailure> found = difference(image.segments().get(i), file);
                    if (found.isPresent()) {
                        return found;
                    }
                }
            }
            return Optional.empty();
        }

        private static Optional<FlashFailure> difference(Segment segment, Path file) {
            byte[] wanted = segment.content().toArray();
            try {
                byte[] read = Files.readAllBytes(file);
                Files.delete(file);
                for (int i = 0; i < wanted.length; i++) {
                    if (i >= read.length || read[i] != wanted[i]) {
                        String detail = i < read.length
                                ? String.format(Locale.ROOT, "0x%02x instead of 0x%02x", read[i], wanted[i])
                                : "only " + read.length + " of " + wanted.length + " bytes were read";
                        return Optional.of(new FlashFailure(
                                Kind.VERIFY_MISMATCH, detail, OptionalLong.of(segment.address() + i), true));
                    }
                }
                return Optional.empty();
            } catch (IOException e) {
                throw FileFailure.of("cannot read", file, e);
            }
        }
    }
}
