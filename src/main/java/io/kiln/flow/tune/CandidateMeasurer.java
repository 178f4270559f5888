// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.codegen.CodeUnit;
import io.kiln.codegen.CodeUnit.CodeOrigin;
import io.kiln.codegen.c.CGenerator;
import io.kiln.cycles.BlockSink;
import io.kiln.cycles.CycleEstimator;
import io.kiln.cycles.CycleEstimator.CycleEstimate;
import io.kiln.cycles.MemoryTrace;
import io.kiln.cycles.MemoryTrace.Stalls;
import io.kiln.cycles.core.CoreTimings;
import io.kiln.cycles.core.CycleRange.Bound;
import io.kiln.cycles.memory.MemorySetting;
import io.kiln.cycles.memory.MemorySetting.Region;
import io.kiln.cycles.memory.MemoryWait;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.emulator.FunctionCounter;
import io.kiln.device.emulator.FunctionCounter.Calls;
import io.kiln.device.emulator.FunctionCounter.CallsCounter;
import io.kiln.device.lease.Lease;
import io.kiln.device.transport.Transport;
import io.kiln.farm.job.FarmAnswer;
import io.kiln.firmware.CompiledObjects;
import io.kiln.firmware.FirmwareAssembler;
import io.kiln.firmware.FirmwareCompiler;
import io.kiln.firmware.FirmwareLinker;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.UserCode;
import io.kiln.flow.device.FlashRunners;
import io.kiln.flow.device.FlashStep;
import io.kiln.flow.device.Leases;
import io.kiln.flow.device.Leases.BoardUse;
import io.kiln.flow.device.MonitorStep.NumberedLines;
import io.kiln.flow.device.MonitorStep.NumberedLines.Heard;
import io.kiln.flow.farm.FarmRuns;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.state.PluginVersion;
import io.kiln.flow.tune.CandidateMeasurer.CandidateRunner.CandidateImage;
import io.kiln.flow.tune.CandidateMeasurer.CandidateRunner.CandidateRuns;
import io.kiln.flow.tune.CandidateMeasurer.CandidateRunner.CandidateRuns.Run;
import io.kiln.lower.LoweredOperator;
import io.kiln.schedule.space.Configuration;
import io.kiln.target.Target;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Board.Kind;
import io.kiln.toolchain.board.Board.Memory;
import io.kiln.tuning.record.TuningRecord.MeasureError;
import io.kiln.tuning.task.LayerTask;
import io.kiln.tuning.task.LayerTask.Example;
import io.kiln.tuning.task.Objective.Metric;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Measures candidates and compares their answers with the reference interpreter's: many of them in one image, which a {@link CandidateRunner}
 * runs once.
 */
final class CandidateMeasurer {
    /** Most candidates in an image: more of them make images that take long to build before the first is measured. */
    private static final int MOST_IN_AN_IMAGE = 256;

    private static final String NAME = "kiln_candidate_";

    private final ResolvedBuild build;
    private final CandidateRunner runner;
    private final Board runsOn;
    private final ModelMetadata model;
    private final Path folder;
    private final long seed;
    private final IdentityHashMap<LayerTask, Example> examples = new IdentityHashMap<>();
    private int made;

    /**
     * @param runner what runs images
     * @param runsOn the board for which images are linked
     * @param model any model of the build: its metadata makes the candidates a library
     * @param folder for the firmware projects
     * @param seed of the examples
     */
    CandidateMeasurer(
            ResolvedBuild build, CandidateRunner runner, Board runsOn, ModelMetadata model, Path folder, long seed) {
        this.build = build;
        this.runner = runner;
        this.runsOn = runsOn;
        this.model = model;
        this.folder = folder;
        this.seed = seed;
    }

    Set<Metric> metrics() {
        Set<Metric> metrics = EnumSet.copyOf(runner.metrics());
        metrics.addAll(List.of(Metric.SIZE, Metric.RAM));
        return metrics;
    }

    /** A candidate as loops, under a name of its own. */
    private record Part(int index, Candidate candidate, LoweredOperator lowered, String name) {
        String file() {
            return name + ".c";
        }
    }

    /** The measurements, one for each candidate in order. Failures of single candidates are measurements, too. */
    List<Measured> measure(List<Candidate> candidates) {
        Measured[] results = new Measured[candidates.size()];
        List<Part> parts = new ArrayList<>();
        for (int i = 0; i < results.length; i++) {
            Candidate candidate = candidates.get(i);
            try {
                LoweredOperator lowered = candidate.task().lower(candidate.configuration());
                parts.add(new Part(i, candidate, lowered, NAME + made++));
            } catch (IllegalArgumentException | IllegalStateException | KilnException e) {
                results[i] = Measured.failed(MeasureError.INSTANTIATION);
            }
        }
        for (int start = 0; start < parts.size(); start += MOST_IN_AN_IMAGE) {
            measure(parts.subList(start, Math.min(parts.size(), start + MOST_IN_AN_IMAGE)), results);
        }
        return List.of(results);
    }

    /** Measures candidates in one image, or in two if it does not fit. */
    private void measure(List<Part> parts, Measured[] results) {
        if (parts.isEmpty()) {
            return;
        }
        Optional<CompiledObjects> objects = compile(parts, results);
        List<Part> whole =
                parts.stream().filter(part -> results[part.index] == null).toList();
        if (objects.isEmpty()) {
            measure(whole, results);
            return;
        }
        Path elf;
        try {
            elf = FirmwareLinker.link(objects.get(), folder, "candidates", Log.QUIET)
                    .elf();
        } catch (KilnException e) {
            if (whole.size() == 1) {
                results[whole.get(0).index] = Measured.failed(MeasureError.COMPILE_DEVICE);
                return;
            }
            measure(whole.subList(0, whole.size() / 2), results);
            measure(whole.subList(whole.size() / 2, whole.size()), results);
            return;
        }
        run(whole, elf, objects.get(), results);
    }

    /** Compiles all candidates; empty if some do not compile, for which a failure is recorded. */
    private Optional<CompiledObjects> compile(List<Part> parts, Measured[] results) {
        try {
            return Optional.of(
                    FirmwareCompiler.compile(FirmwareAssembler.assemble(request(parts), Log.QUIET), Log.QUIET));
        } catch (KilnException e) {
            String said = e.getMessage();
            List<Part> broken = parts.stream()
                    .filter(part -> said.contains("/" + part.file()))
                    .toList();
            if (broken.isEmpty()) {
                throw e;
            }
            broken.forEach(part -> results[part.index] = Measured.failed(MeasureError.COMPILE_HOST));
            return Optional.empty();
        }
    }

    private FirmwareRequest request(List<Part> parts) {
        Target target = Target.parse(build.target());
        CodeOrigin origin = new CodeOrigin("kiln:tune", target);
        CGenerator generator = new CGenerator();
        MeasuringProgram program = new MeasuringProgram(runner.metrics().contains(Metric.TIME));
        List<Artifact> files = new ArrayList<>();
        for (Part part : parts) {
            LayerTask task = part.candidate.task();
            CodeUnit unit = new CodeUnit(
                    origin,
                    part.name,
                    List.of(),
                    List.of(part.lowered.function().named(part.name)));
            files.addAll(generator.generate(unit));
            program.add(
                    task,
                    examples.computeIfAbsent(task, t -> t.example(seed)),
                    unit.functions().get(0));
        }
        Path sources = folder.resolve("src");
        WholeFiles.write(sources.resolve("main.c"), program.text());
        ModelLibrary library = new ModelLibrary(model, ArtifactSet.of(files, Map.of(Artifact.HOST, target.text())));
        FirmwareRequest request = new FirmwareRequest(
                build.board(),
                build.toolchain(),
                build.spec().optimize(),
                new FirmwareRequest.Content(List.of(library), UserCode.of(sources)),
                FirmwareRequest.Folders.in(folder),
                PluginVersion.text());
        return request.on(runsOn, folder);
    }

    private void run(List<Part> parts, Path elf, CompiledObjects objects, Measured[] results) {
        CandidateRuns ran = runner.run(
                new CandidateImage(elf, parts.stream().map(Part::name).toList()));
        int measured = ran.runs().size();
        for (int i = 0; i < measured; i++) {
            results[parts.get(i).index] = measured(parts.get(i), ran.runs().get(i), objects);
        }
        ran.failure().ifPresent(error -> {
            // The candidates before may have used up the image's time: one that is at fault fails as the first of an
            // image, too.
            boolean isAtFault = measured == 0 || error != MeasureError.RUN_TIMEOUT;
            if (isAtFault) {
                results[parts.get(measured).index] = Measured.failed(error);
            }
            measure(parts.subList(isAtFault ? measured + 1 : measured, parts.size()), results);
        });
    }

    private static Measured measured(Part part, Run run, CompiledObjects objects) {
        if (run.wrong() != 0) {
            return Measured.failed(MeasureError.WRONG_ANSWER);
        }
        Map<Metric, Double> metrics = new TreeMap<>(run.costs());
        metrics.put(Metric.SIZE, (double) size(objects, part.file()));
        metrics.put(Metric.RAM, (double) part.lowered.scratchBytes());
        return new Measured(MeasureError.NONE, metrics);
    }

    /** Bytes of code and constants of a candidate's object. */
    private static long size(CompiledObjects objects, String file) {
        Path object = objects.files().entrySet().stream()
                .filter(entry -> entry.getKey().endsWith("/" + file))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElseThrow();
        return ElfFile.read(object).sections().stream()
                .filter(section -> section.isAllocated() && !section.isWritable())
                .mapToLong(ElfFile.Section::size)
                .sum();
    }

    /**
     * A configuration to measure.
     *
     * @param task the layer
     * @param configuration one of the layer's space
     */
    record Candidate(LayerTask task, Configuration configuration) {}

    /**
     * The measurement of a candidate.
     *
     * @param error how it ended
     * @param metrics what was measured; empty unless it succeeded
     */
    record Measured(MeasureError error, Map<Metric, Double> metrics) {
        Measured {
            metrics = Map.copyOf(metrics);
        }

        static Measured failed(MeasureError error) {
            return new Measured(error, Map.of());
        }

        boolean isRight() {
            return error == MeasureError.NONE;
        }
    }

    /** Runs images of candidates, in an emulator or on a board. */
    public interface CandidateRunner {
        /** The quantities measured for each call. */
        Set<Metric> metrics();

        /**
         * Runs an image once.
         *
         * @throws io.kiln.base.KilnException if nothing can be said about any of its candidates
         */
        CandidateRuns run(CandidateImage image);

        /**
         * An image of candidates, independent of what runs it.
         *
         * @param elf linked for the board that runs it; {@link MeasuringProgram} says what it does
         * @param functions the candidates' functions in the order of their calls
         */
        record CandidateImage(Path elf, List<String> functions) {
            public CandidateImage {
                functions = List.copyOf(functions);
            }
        }

        /**
         * The results of an image of candidates.
         *
         * @param runs of the image's first functions, in order
         * @param failure what happened in the first function without a run; empty if all of them have one
         */
        record CandidateRuns(List<Run> runs, Optional<MeasureError> failure) {
            public CandidateRuns {
                runs = List.copyOf(runs);
            }

            /**
             * The call of a candidate.
             *
             * @param wrong elements of its answer that differ from the reference interpreter's
             * @param costs what the runner measures
             */
            public record Run(long wrong, Map<Metric, Double> costs) {
                public Run {
                    costs = Map.copyOf(costs);
                }
            }
        }
    }

    /**
     * Counts the instructions of candidates in QEMU, and estimates their cycles if that is asked for. The estimate depends a little, by some tenths
     * of a percent, on where the candidate lies in the image: QEMU ends blocks of instructions at the ends of its pages.
     *
     * @param counter counts on the board that the images are linked for
     * @param core timings by which executed instructions are priced; empty to leave cycles out
     * @param waits of the board's flash; empty to leave them out
     */
    public record EmulatorRunner(CallsCounter counter, Optional<CoreTimings> core, Optional<FlashWaits> waits)
            implements CandidateRunner {
        public EmulatorRunner {
            waits = waits.filter(flash -> counter.hasOrder() && core.isPresent());
        }

        /** Counts in an emulator of this computer, without waits. */
        public EmulatorRunner(Emulator emulator, Optional<CoreTimings> core) {
            this(CallsCounter.in(emulator), core, Optional.empty());
        }

        @Override
        public Set<Metric> metrics() {
            Set<Metric> metrics = EnumSet.of(Metric.INSTRUCTIONS);
            core.ifPresent(timings -> metrics.add(Metric.CYCLES));
            waits.ifPresent(flash -> metrics.add(Metric.BOARD_CYCLES));
            return metrics;
        }

        @Override
        public CandidateRuns run(CandidateImage image) {
            Calls calls = counter.count(image.elf(), image.functions(), MeasuringProgram.TOLD);
            int counted = calls.counted().size();
            List<Long> instructions = calls.counted().stream()
                    .map(FunctionCounter.Counted::instructions)
                    .toList();
            List<Map<Metric, Double>> cycles =
                    core.isPresent() && counted > 0 ? cycles(image, instructions, core.get()) : List.of();
            List<Run> runs = new ArrayList<>();
            for (int i = 0; i < counted; i++) {
                Map<Metric, Double> costs = new TreeMap<>();
                costs.put(Metric.INSTRUCTIONS, (double) instructions.get(i));
                if (!cycles.isEmpty()) {
                    costs.putAll(cycles.get(i));
                }
                runs.add(new Run(calls.counted().get(i).verdict(), costs));
            }
            return new CandidateRuns(
                    runs,
                    calls.failure()
                            .map(failure -> failure.getMessage().contains("ran longer than")
                                    ? MeasureError.RUN_TIMEOUT
                                    : MeasureError.RUNTIME_DEVICE));
        }

        /** Cycles of the first functions, which were counted, from a second boot. */
        private List<Map<Metric, Double>> cycles(CandidateImage image, List<Long> instructions, CoreTimings timings) {
            int counted = instructions.size();
            List<String> functions = image.functions();
            String end = counted < functions.size() ? functions.get(counted) : MeasuringProgram.DONE;
            ElfFile elf = ElfFile.read(image.elf());
            Optional<MemoryTrace> trace =
                    waits.map(flash -> new MemoryTrace(elf, elf, timings, List.of(flash.memories())));
            BlockSink sink = trace.<BlockSink>map(all -> all).orElse(BlockSink.NONE);
            CycleEstimate estimate = CycleEstimator.estimate(
                    elf, counter.blocks(image.elf(), functions.subList(0, counted), instructions, end, sink), timings);
            List<Map<Metric, Double>> all = new ArrayList<>();
            // Owner 0 is what calls the candidates.
            for (int owner = 1; owner < estimate.owners().size(); owner++) {
                double free = estimate.owners().get(owner).cycles().expected();
                Map<Metric, Double> costs = new TreeMap<>(Map.of(Metric.CYCLES, free));
                if (trace.isPresent()) {
                    Stalls stalls = trace.get().stalls(0, owner);
                    double measured = waits.orElseThrow().flash().measured();
                    costs.put(Metric.BOARD_CYCLES, (double)
                            Math.round((free + stalls.fetch() + stalls.data()) * measured));
                }
                all.add(costs);
            }
            return all;
        }

        /**
         * How the flash of a board makes its core wait, on the board whose emulator runs candidates: its addresses stand for those of the board.
         *
         * @param flash how long the board's flash waits
         * @param memories read-only memories of the board that runs, which wait like that
         */
        public record FlashWaits(MemoryWait flash, MemorySetting memories) {
            /** The waits of a board; empty if its profile does not describe them, or if nothing waits. */
            public static Optional<FlashWaits> of(Board board, Board runsOn) {
                return wait(board)
                        .map(wait -> new FlashWaits(
                                wait,
                                new MemorySetting(
                                        runsOn.memories().stream()
                                                .filter(memory -> memory.kind() == Kind.ROM)
                                                .map(memory -> new Region(
                                                        memory.base(),
                                                        memory.end(),
                                                        Optional.of(wait),
                                                        Optional.empty()))
                                                .toList(),
                                        Bound.EXPECTED)));
            }

            /** Whether a board has flash for which its core waits, and which its profile describes. */
            public static boolean areKnown(Board board) {
                return wait(board).isPresent();
            }

            private static Optional<MemoryWait> wait(Board board) {
                return board.constants()
                        .flatMap(Memory::waits)
                        .filter(MemoryWait::isModelled)
                        .filter(wait -> wait.states() > 0 || wait.missCycles().isPresent());
            }
        }
    }

    /** Measures the time of candidates on a board, by its own timer: flashes an image and reads from the console what its program says of each call. */
    record BoardRunner(Console console) implements CandidateRunner {
        private static final Pattern SAID = Pattern.compile(MeasuringProgram.SAID
                + " ([0-9]{1,9}) ([0-9]{1,10}) ([1-9][0-9]{0,8}) ([0-9]{1,18}) ([1-9][0-9]{0,10})");

        /** A board that is flashed, and whose console is read. */
        @FunctionalInterface
        interface Console {
            /**
             * Runs an image.
             *
             * @param prefix that the numbered lines of its answers begin with
             * @param lines how many answers are awaited
             */
            Heard read(Path elf, String prefix, int lines);
        }

        /**
         * Measures on a board of this computer.
         *
         * @param limit for which an image may run
         * @param console gets what the program prints
         * @throws KilnException if the board cannot measure time, or nothing flashes it
         */
        static BoardRunner here(ResolvedBuild build, DeviceSpec device, Duration limit, Path console) {
            requireTimer(build, device);
            return new BoardRunner((elf, prefix, lines) -> {
                try (Lease lease = new Leases(BoardUse.of(build), device, limit, console).take();
                        Transport line = lease.start(
                                () -> new FlashStep(Log.QUIET, build, device.flash()).flash(elf, lease::flashRunner))) {
                    return NumberedLines.read(line, limit, prefix, lines, lease.log());
                }
            });
        }

        /**
         * Measures on boards of a farm, whichever are free.
         *
         * @param limit for which an image may run
         * @throws KilnException if the board cannot measure time, or nothing flashes it
         */
        static BoardRunner of(FarmRuns farm, ResolvedBuild build, DeviceSpec device, Duration limit) {
            requireTimer(build, device);
            return new BoardRunner((elf, prefix, lines) -> {
                FarmAnswer.Heard heard = farm.listen(build.board(), limit, elf, prefix, lines);
                return new Heard(heard.lines(), heard.isTimeOver());
            });
        }

        private static void requireTimer(ResolvedBuild build, DeviceSpec device) {
            String board = "the board " + build.board().id();
            if (build.board().timer().isEmpty()) {
                throw Failure.TUNE.exception(
                        board + " has no timer",
                        build.board().origin(),
                        "timer in board.yaml",
                        "Use -Dkiln.tune.on=emulator");
            }
            if (!FlashRunners.areFor(build.board()) || !device.isFlashed()) {
                throw Failure.TUNE.exception(
                        "candidates must be flashed, and " + board
                                + (device.isFlashed() ? " has no flash runner" : " is not"),
                        "kiln.tune.on",
                        "flash in " + build.board().origin() + ", and no kiln.flash.skip",
                        "Use -Dkiln.tune.on=emulator");
            }
        }

        @Override
        public Set<Metric> metrics() {
            return Set.of(Metric.TIME);
        }

        /** Runs an image; lines of its answers from the first malformed one on are ignored. */
        @Override
        public CandidateRuns run(CandidateImage image) {
            int functions = image.functions().size();
            Heard heard = console.read(image.elf(), MeasuringProgram.SAID, functions);
            List<Run> runs = new ArrayList<>();
            for (String line : heard.lines()) {
                Matcher said = SAID.matcher(line);
                if (!said.matches() || Integer.parseInt(said.group(1)) != runs.size() || runs.size() == functions) {
                    break;
                }
                double ticks = (double) Long.parseLong(said.group(4)) / Long.parseLong(said.group(3));
                double seconds = ticks / Long.parseLong(said.group(5));
                runs.add(new Run(Long.parseLong(said.group(2)), Map.of(Metric.TIME, seconds)));
            }
            if (runs.size() == functions) {
                return new CandidateRuns(runs, Optional.empty());
            }
            return new CandidateRuns(
                    runs, Optional.of(heard.isTimeOver() ? MeasureError.RUN_TIMEOUT : MeasureError.RUNTIME_DEVICE));
        }
    }
}
