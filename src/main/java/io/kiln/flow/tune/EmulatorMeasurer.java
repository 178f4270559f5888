// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.codegen.CodeOrigin;
import io.kiln.codegen.CodeUnit;
import io.kiln.codegen.c.CGenerator;
import io.kiln.device.emulator.CallsCounter;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.emulator.FunctionCounter;
import io.kiln.device.emulator.FunctionCounter.Calls;
import io.kiln.device.emulator.FunctionCounter.Counted;
import io.kiln.firmware.CompiledObjects;
import io.kiln.firmware.FirmwareAssembler;
import io.kiln.firmware.FirmwareCompiler;
import io.kiln.firmware.FirmwareLinker;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.state.PluginVersion;
import io.kiln.lower.LoweredOperator;
import io.kiln.target.Target;
import io.kiln.toolchain.board.Board;
import io.kiln.tuning.record.MeasureError;
import io.kiln.tuning.task.LayerTask;
import io.kiln.tuning.task.LayerTask.Example;
import io.kiln.tuning.task.Objective.Metric;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Measures candidates by counted instructions: many of them in one image, which the board's emulator boots once. */
final class EmulatorMeasurer implements Measurer {
    /** More of them make images that take long to build before the first is measured. */
    private static final int MOST_IN_AN_IMAGE = 256;

    private static final String NAME = "kiln_candidate_";

    private final ResolvedBuild build;
    private final Board runsOn;
    private final ModelMetadata model;
    private final Path folder;
    private final Duration timeout;
    private final long seed;
    private final IdentityHashMap<LayerTask, Example> examples = new IdentityHashMap<>();
    private final Optional<CallsCounter> counter;
    private int made;

    /** A measurer that counts in this computer's emulator. */
    EmulatorMeasurer(ResolvedBuild build, ModelMetadata model, Path folder, Duration timeout, long seed) {
        this(build, model, folder, timeout, seed, Optional.empty());
    }

    /**
     * @param build the build, on a board that QEMU emulates
     * @param model any model of the build: its metadata makes the candidates a library
     * @param folder for the firmware projects
     * @param timeout for which an image may run
     * @param seed of the examples
     * @param counter counts elsewhere; empty for this computer's emulator
     */
    EmulatorMeasurer(
            ResolvedBuild build,
            ModelMetadata model,
            Path folder,
            Duration timeout,
            long seed,
            Optional<CallsCounter> counter) {
        this.counter = counter;
        this.build = build;
        this.runsOn = build.runsOn()
                .orElseThrow(() -> new KilnException(new Problem(
                        "nothing on this computer can run images of the board "
                                + build.board().id(),
                        build.board().origin(),
                        "a board with an emulator or a stand-in",
                        "kiln:boards shows what runs where")));
        this.model = model;
        this.folder = folder;
        this.timeout = timeout;
        this.seed = seed;
    }

    @Override
    public Set<Metric> metrics() {
        return Set.of(Metric.INSTRUCTIONS, Metric.SIZE, Metric.RAM);
    }

    /** A candidate as loops, under a name of its own. */
    private record Part(int index, Candidate candidate, LoweredOperator lowered, String name) {
        String file() {
            return name + ".c";
        }
    }

    @Override
    public List<Measured> measure(List<Candidate> candidates) {
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

    /** One image; if it does not fit, two. */
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

    /** Compiles all; empty if some do not compile, which have a result then. */
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
        MeasuringProgram program = new MeasuringProgram();
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
                List.of(library),
                Optional.of(sources),
                folder.resolve("firmware"),
                folder.resolve("build"),
                PluginVersion.text());
        return request.on(runsOn, folder);
    }

    private void run(List<Part> parts, Path elf, CompiledObjects objects, Measured[] results) {
        Emulator emulator = new Emulator(
                runsOn,
                timeout,
                Optional.of(folder.resolve("emulator.log")),
                build.spec().semihosting());
        List<String> functions = parts.stream().map(Part::name).toList();
        Calls calls =
                counter.orElseGet(() -> new FunctionCounter(emulator)).count(elf, functions, MeasuringProgram.TOLD);
        for (int i = 0; i < calls.counted().size(); i++) {
            results[parts.get(i).index] = measured(parts.get(i), calls.counted().get(i), objects);
        }
        calls.failure().ifPresent(failure -> {
            Part failed = parts.get(calls.counted().size());
            boolean isLate = failure.getMessage().contains("ran longer than");
            results[failed.index] = Measured.failed(isLate ? MeasureError.RUN_TIMEOUT : MeasureError.RUNTIME_DEVICE);
            measure(parts.subList(calls.counted().size() + 1, parts.size()), results);
        });
    }

    private static Measured measured(Part part, Counted counted, CompiledObjects objects) {
        if (counted.verdict() != 0) {
            return Measured.failed(MeasureError.WRONG_ANSWER);
        }
        return new Measured(
                MeasureError.NONE,
                Map.of(
                        Metric.INSTRUCTIONS, (double) counted.instructions(),
                        Metric.SIZE, (double) size(objects, part.file()),
                        Metric.RAM, (double) part.lowered.scratchBytes()));
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
}
