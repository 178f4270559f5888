// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.codegen.CodeUnit;
import io.kiln.codegen.CodeUnit.CodeOrigin;
import io.kiln.codegen.c.CGenerator;
import io.kiln.firmware.CompiledObjects;
import io.kiln.firmware.FirmwareAssembler;
import io.kiln.firmware.FirmwareCompiler;
import io.kiln.firmware.FirmwareLinker;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.UserCode;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.state.PluginVersion;
import io.kiln.flow.tune.CandidateRunner.CandidateImage;
import io.kiln.flow.tune.CandidateRunner.CandidateRuns;
import io.kiln.flow.tune.CandidateRunner.CandidateRuns.Run;
import io.kiln.lower.LoweredOperator;
import io.kiln.schedule.space.Configuration;
import io.kiln.target.Target;
import io.kiln.toolchain.board.Board;
import io.kiln.tuning.record.TuningRecord.MeasureError;
import io.kiln.tuning.task.LayerTask;
import io.kiln.tuning.task.LayerTask.Example;
import io.kiln.tuning.task.Objective.Metric;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

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
}
