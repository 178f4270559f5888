// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.base.WholeFiles.TemporaryFolder;
import io.kiln.device.flash.FlashFailure.FailureRules;
import io.kiln.device.flash.FlashFailure.Kind;
import io.kiln.device.flash.FlashRunner.FlashImage.Segment;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.Executables;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Flashing;
import io.kiln.toolchain.board.Flashing.ChipId;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;

/** Flashes boards with OpenOCD, each through a probe of its own. */
public final class OpenOcdRunner implements FlashRunner {
    private final OpenOcd openOcd;
    private final Manner manner;
    private final Map<Probe, FlashTarget> targets = new LinkedHashMap<>();

    /**
     * Settings for flashing.
     *
     * @param limit time for each of them
     * @param preverify whether an image that the device already holds is kept
     * @param logs folder for the whole output of the program, {@code flash.log} or a file for each probe
     */
    public record Manner(Duration limit, boolean preverify, Path logs) {
        /** The log of a device, one of several. */
        Path log(Probe probe, int devices) {
            return logs.resolve(name(probe, devices) + ".log");
        }

        private static String name(Probe probe, int devices) {
            return devices == 1 ? "flash" : "flash-" + probe.text().replaceAll("[^A-Za-z0-9_.-]", "_");
        }
    }

    /**
     * A runner for boards of one kind.
     *
     * @param board a board that OpenOCD reaches
     * @param scripts folders with the board's own scripts, searched before OpenOCD's
     * @param probes at least one
     * @throws KilnException if this version of OpenOCD lacks a script that the board names
     */
    public OpenOcdRunner(OpenOcd openOcd, Board board, List<Path> scripts, List<Probe> probes, Manner manner) {
        this.openOcd = openOcd;
        this.manner = manner;
        Flashing.OpenOcd how = board.openOcd().orElseThrow();
        probes.forEach(probe -> targets.put(probe, new FlashTarget(how, scripts, probe)));
        requireScripts(board.origin(), scripts);
    }

    private void requireScripts(String origin, List<Path> folders) {
        Set<String> needed = new TreeSet<>();
        targets.values().forEach(target -> needed.addAll(target.neededScripts()));
        Set<String> missing = openOcd.missing(List.copyOf(needed), folders);
        if (!missing.isEmpty()) {
            String detail = String.join(", ", missing) + " (" + openOcd.version() + ")";
            throw FlashFailure.before(Kind.SCRIPT_MISSING, detail).exception(origin);
        }
    }

    @Override
    public String tool() {
        return openOcd.version();
    }

    @Override
    public List<Probe> probes() {
        return List.copyOf(targets.keySet());
    }

    @Override
    public FlashResult flash(Probe probe, FlashImage image, FlashProgress progress) {
        Path log = manner.log(probe, targets.size());
        return new Flasher(openOcd, manner.limit(), manner.preverify(), Optional.of(log))
                .flash(targets.get(probe), image, progress);
    }

    @Override
    public List<Bytes> read(Probe probe, List<Range> ranges) {
        Path log = manner.logs().resolve(Manner.name(probe, targets.size()) + "-read.log");
        return new MemoryReader(openOcd, manner.limit(), log).read(targets.get(probe), ranges);
    }

    /** Does nothing: nothing is held between runs of OpenOCD. */
    @Override
    public void close() {}

    /**
     * Reads memory of one device in one run of OpenOCD.
     *
     * @param openOcd the program
     * @param limit time after which it is killed
     * @param log gets the whole output
     */
    private record MemoryReader(OpenOcd openOcd, Duration limit, Path log) {
        /** The content of each range; the device runs afterwards. */
        List<Bytes> read(FlashTarget target, List<Range> ranges) {
            return TemporaryFolder.use("kiln-flash", folder -> {
                OpenOcdOutput output = new OpenOcdOutput(FlashProgress.QUIET);
                Command command = Command.of(openOcd.executable().toString(), arguments(target, ranges, folder))
                        .in(folder)
                        .owning(folder)
                        .within(limit)
                        .loggingTo(log);
                ProcessResult result = ProcessRunner.run(command, output);
                List<Bytes> contents = contents(ranges, folder);
                if (result.timedOut() || result.exitCode() != 0 || contents.size() < ranges.size()) {
                    String where = target.probe().text();
                    throw FailureRules.classify(output.lines(), false)
                            .orElseGet(() -> FlashFailure.before(
                                    result.timedOut() ? Kind.TIME_OUT : Kind.OTHER,
                                    output.lastError()
                                            .orElse("it read " + contents.size() + " of " + ranges.size() + " ranges")))
                            .exception(where);
                }
                return contents;
            });
        }

        private static List<String> arguments(FlashTarget target, List<Range> ranges, Path folder) {
            WholeFiles.write(folder.resolve(FlashScript.PROCEDURES), FlashScript.procedures());
            List<String> arguments = new ArrayList<>(target.arguments(FlashScript.PROCEDURES));
            FlashTarget.command(arguments, "kiln_connect");
            for (int i = 0; i < ranges.size(); i++) {
                Range range = ranges.get(i);
                FlashTarget.command(
                        arguments,
                        Tcl.command(
                                "dump_image", file(i), Tcl.address(range.address()), String.valueOf(range.bytes())));
            }
            FlashTarget.command(arguments, "kiln_no_semihosting");
            FlashTarget.command(arguments, "reset run");
            FlashTarget.command(arguments, "shutdown");
            return arguments;
        }

        private static String file(int range) {
            return "range" + range + ".bin";
        }

        /** The content of the ranges that were read whole. */
        private static List<Bytes> contents(List<Range> ranges, Path folder) throws IOException {
            List<Bytes> contents = new ArrayList<>();
            for (int i = 0; i < ranges.size(); i++) {
                Path file = folder.resolve(file(i));
                if (Files.isRegularFile(file)
                        && Files.size(file) == ranges.get(i).bytes()) {
                    contents.add(Bytes.wrap(Files.readAllBytes(file)));
                }
            }
            return contents;
        }
    }

    /**
     * Flashes one device in one run of OpenOCD.
     *
     * @param openOcd the program
     * @param limit time after which it is killed, because OpenOCD ignores termination requests
     * @param preverify whether an image that the device already holds is kept
     * @param log gets the whole output
     */
    public record Flasher(OpenOcd openOcd, Duration limit, boolean preverify, Optional<Path> log) {

        /** Flashes; a failure is a result, not an exception. No process remains afterwards. */
        public FlashResult flash(FlashTarget target, FlashImage image, FlashProgress progress) {
            long start = System.nanoTime();
            OpenOcdOutput output = new OpenOcdOutput(progress);
            Optional<FlashFailure> failure =
                    TemporaryFolder.use("kiln-flash", folder -> run(target, image, folder, output));
            return new FlashResult(
                    target.probe(),
                    output.isUnchanged(),
                    image.size(),
                    Duration.ofNanos(System.nanoTime() - start),
                    failure);
        }

        private Optional<FlashFailure> run(FlashTarget target, FlashImage image, Path folder, OpenOcdOutput output) {
            List<String> arguments = new ArrayList<>(target.arguments(FlashScript.PROCEDURES));
            arguments.addAll(
                    new FlashScript(folder, image).arguments(target.board().chipId(), preverify));
            Command command = Command.of(openOcd.executable().toString(), arguments)
                    .in(folder)
                    .owning(folder)
                    .within(limit);
            try {
                ProcessResult result =
                        ProcessRunner.run(log.map(command::loggingTo).orElse(command), output);
                return failure(result, image, output);
            } catch (KilnException e) {
                if (!Thread.currentThread().isInterrupted()) {
                    throw e;
                }
                return Optional.of(FlashFailure.interrupted(output.hasBegun()));
            }
        }

        /**
         * The verdict. Exit code 0 may hide a failure, and so may success messages: flashing succeeded only if every
         * command finished and the number of bytes read back equals the image's size.
         */
        private Optional<FlashFailure> failure(ProcessResult result, FlashImage image, OpenOcdOutput output) {
            if (result.timedOut()) {
                return Optional.of(new FlashFailure(
                        Kind.TIME_OUT, "after " + limit.toSeconds() + " s", OptionalLong.empty(), output.hasBegun()));
            }
            boolean looksGood = result.exitCode() == 0 && output.hasRun() && output.verified() == image.size();
            boolean saysOtherwise = output.lines().stream()
                    .anyMatch(line -> line.contains("UNEXPECTED:") || line.contains("no flash bank found"));
            if (looksGood && !saysOtherwise) {
                return Optional.empty();
            }
            return Optional.of(FailureRules.classify(output.lines(), output.hasBegun())
                    .orElseGet(() -> other(result, image, output)));
        }

        private static FlashFailure other(ProcessResult result, FlashImage image, OpenOcdOutput output) {
            String said = output.lastError()
                    .orElse("exit code " + result.exitCode() + ", " + output.verified() + " of " + image.size()
                            + " bytes verified");
            return new FlashFailure(Kind.OTHER, said, OptionalLong.empty(), output.hasBegun());
        }
    }

    /**
     * The steps of flashing as commands of OpenOCD: connect, compare, erase, write in pieces to show progress, verify, run.
     * The files that the commands use are written into a working folder.
     */
    private record FlashScript(Path folder, FlashImage image) {
        /** Bytes of one write command. */
        private static final int PIECE = 16 << 10;

        /** The file of Kiln's own procedures; the set-up commands use them already. */
        static final String PROCEDURES = "kiln.tcl";

        /**
         * Writes the files and returns the arguments after the set-up.
         *
         * @param chipId the expected chip id
         * @param preverify whether an image that the device already holds is kept
         */
        List<String> arguments(Optional<ChipId> chipId, boolean preverify) {
            WholeFiles.write(folder.resolve(PROCEDURES), procedures());
            List<String> files = new ArrayList<>();
            for (int i = 0; i < image.segments().size(); i++) {
                Segment segment = image.segments().get(i);
                String file = "segment" + i + ".bin";
                WholeFiles.write(folder.resolve(file), segment.content().toArray());
                files.add(file);
                files.add(Tcl.address(segment.address()));
            }
            WholeFiles.write(folder.resolve("flash.tcl"), programming(files, preverify));
            List<String> arguments = new ArrayList<>();
            FlashTarget.command(arguments, "kiln_connect");
            chipId.ifPresent(id -> FlashTarget.command(
                    arguments,
                    Tcl.command(
                            "kiln_must_be_chip",
                            Tcl.address(id.address()),
                            Tcl.address(id.mask()),
                            Tcl.address(id.value()))));
            FlashTarget.command(arguments, Tcl.command("source", "flash.tcl"));
            FlashTarget.command(arguments, "kiln_say verifying");
            for (int i = 0; i < files.size(); i += 2) {
                FlashTarget.command(arguments, Tcl.command("verify_image", files.get(i), files.get(i + 1), "bin"));
            }
            FlashTarget.command(arguments, "kiln_no_semihosting");
            FlashTarget.command(arguments, "reset run");
            FlashTarget.command(arguments, "kiln_say running");
            FlashTarget.command(arguments, "shutdown");
            return arguments;
        }

        private String programming(List<String> files, boolean preverify) {
            StringBuilder script = new StringBuilder();
            for (Segment segment : image.segments()) {
                line(
                        script,
                        "kiln_must_be_flash",
                        segment.address(),
                        segment.content().size());
            }
            script.append("set unchanged 0\n");
            if (preverify) {
                script.append("kiln_say comparing\n");
                script.append("set unchanged [kiln_holds ")
                        .append(Tcl.list(files))
                        .append("]\n");
                script.append("kiln_say compared\n");
            }
            script.append("if {$unchanged} {\n    kiln_say unchanged\n} else {\n");
            for (Segment segment : image.segments()) {
                line(
                        script,
                        "    kiln_must_be_open",
                        segment.address(),
                        segment.content().size());
            }
            script.append("    kiln_say begun\n");
            for (Segment segment : image.segments()) {
                line(
                        script,
                        "    kiln_erase",
                        segment.address(),
                        segment.content().size());
            }
            pieces(script);
            return script.append("}\n").toString();
        }

        private void pieces(StringBuilder script) {
            long written = 0;
            for (int s = 0; s < image.segments().size(); s++) {
                Segment segment = image.segments().get(s);
                byte[] content = segment.content().toArray();
                for (int from = 0; from < content.length; from += PIECE) {
                    byte[] piece = Arrays.copyOfRange(content, from, Math.min(content.length, from + PIECE));
                    String file = "piece" + s + "_" + from / PIECE + ".bin";
                    WholeFiles.write(folder.resolve(file), piece);
                    written += piece.length;
                    script.append("    ")
                            .append(Tcl.command(
                                    "kiln_write", file, Tcl.address(segment.address() + from), String.valueOf(written)))
                            .append('\n');
                }
            }
        }

        private static void line(StringBuilder script, String procedure, long address, int length) {
            script.append(procedure)
                    .append(' ')
                    .append(Tcl.address(address))
                    .append(' ')
                    .append(length)
                    .append('\n');
        }

        static String procedures() {
            try (InputStream in = FlashScript.class.getResourceAsStream("/openocd/" + PROCEDURES)) {
                return new String(in.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /**
     * An installed OpenOCD.
     *
     * @param executable the program
     * @param version its version line, such as {@code Open On-Chip Debugger 0.12.0}
     */
    public record OpenOcd(Path executable, String version) {
        private static final Duration PATIENCE = Duration.ofSeconds(30);
        private static final String MISSING = OpenOcdOutput.MARK + "missing ";

        /**
         * Looks for the program.
         *
         * @param name a path, or a name that the PATH resolves
         */
        public static Optional<OpenOcd> find(String name) {
            Optional<Path> found = Executables.find(name);
            if (found.isEmpty() && Files.isExecutable(Path.of(name)) && Files.isRegularFile(Path.of(name))) {
                found = Optional.of(Path.of(name).toAbsolutePath());
            }
            return found.map(path -> new OpenOcd(path, ask(path)));
        }

        private static String ask(Path executable) {
            ProcessResult result = ProcessRunner.run(
                    Command.of(executable.toString(), "--version").within(PATIENCE));
            return result.message().lines().findFirst().orElse("OpenOCD of unknown version");
        }

        /**
         * The scripts that are not in OpenOCD's search path. OpenOCD itself is asked, so that its environment and folders
         * count. Flashing also searches the working folder, which has no scripts.
         *
         * @param scripts names as in boards' descriptions
         * @param folders searched before its own
         */
        public Set<String> missing(List<String> scripts, List<Path> folders) {
            List<String> arguments = new ArrayList<>();
            folders.forEach(folder ->
                    arguments.addAll(List.of("-s", folder.toAbsolutePath().toString())));
            for (String script : scripts) {
                arguments.add("-c");
                arguments.add("if {[catch {find " + Tcl.word(script) + "}]} {echo " + Tcl.word(MISSING + script) + "}");
            }
            arguments.addAll(List.of("-c", "shutdown"));
            ProcessResult result = ProcessRunner.run(Command.of(executable.toString(), arguments)
                    .in(executable.toAbsolutePath().getParent())
                    .within(PATIENCE));
            Set<String> missing = new TreeSet<>();
            result.message()
                    .lines()
                    .filter(line -> line.startsWith(MISSING))
                    .forEach(
                            line -> missing.add(line.substring(MISSING.length()).strip()));
            return missing;
        }

        /** The failure if OpenOCD is missing. */
        public static FlashFailure absent(String name) {
            return FlashFailure.before(Kind.NO_OPENOCD, "no program '" + name + "' on the PATH");
        }
    }
}
