// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.base.KilnException;
import io.kiln.base.TemporaryFolder;
import io.kiln.base.WholeFiles;
import io.kiln.device.flash.FlashFailure.Kind;
import io.kiln.process.Command;
import io.kiln.process.Executables;
import io.kiln.process.ProcessResult;
import io.kiln.process.ProcessRunner;
import io.kiln.toolchain.board.Flashing;
import io.kiln.toolchain.board.RunnerDefinition;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
}
