// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.artifact.ArchivePaths;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ObjectCompiler;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.Extensions;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.Problems;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.compile.CallOptions;
import io.kiln.compile.CodeTarget;
import io.kiln.compile.CompileOptions;
import io.kiln.compile.CompileOptions.RamOptions;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.IrDump;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.SystemLibrary;
import io.kiln.executor.PlannedModule.PackedOptions;
import io.kiln.firmware.CompiledObjects;
import io.kiln.firmware.app.DefaultApplication.Application;
import io.kiln.flow.page.BuildPage;
import io.kiln.flow.resolve.BoardPools;
import io.kiln.flow.resolve.ModelFiles.ModelArchives;
import io.kiln.flow.resolve.ModelFiles.ModelArchives.Archive;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.CompilerSpec.CodegenSpec;
import io.kiln.flow.state.LibraryStore;
import io.kiln.flow.state.PluginVersion;
import io.kiln.flow.state.Steps;
import io.kiln.mlf.ModelLibraryFormat;
import io.kiln.mlf.ModelLibraryFormat.Options;
import io.kiln.partition.Externals;
import io.kiln.partition.UserFunctions;
import io.kiln.preprocess.ModelPreprocessing;
import io.kiln.preprocess.Preprocessing;
import io.kiln.quantize.QuantizeOptions.QuantizeRequest;
import io.kiln.report.BuildReport.PreprocessingReport;
import io.kiln.report.NpuReport;
import io.kiln.target.CompositeTarget;
import io.kiln.tuning.task.ProgramTask;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;

/** Compiles the models to C and writes them as a Model Library Format archive, packed and unpacked. Models that are archives already contain C. */
public final class GenerateStep {
    private static final String NAME = "generate";
    private static final int SEVERAL_MODELS = 7;

    private final Log log;
    private final ResolvedBuild build;
    private final Layout layout;
    private final QuantizedFiles quantizedFiles;

    public GenerateStep(Log log, ResolvedBuild build) {
        this.log = log;
        this.build = build;
        this.quantizedFiles = new QuantizedFiles(build.spec(), log);
        this.layout = build.spec().layout();
    }

    /** The store of the compiled models. */
    public static LibraryStore store(Layout layout) {
        return new LibraryStore(layout.reports().resolve("state").resolve("library.json"), layout.generated());
    }

    /** The archive that this step writes; linking copies it next to the image. */
    public static Path archive(Layout layout) {
        return layout.generated().resolve("model-mlf.tar");
    }

    /** Compiles the models that changed. */
    public void run() {
        new Steps(log, layout).run("Generating C", fingerprint(), this::generate);
    }

    /**
     * Checks that the generated code belongs to this build: another build may have written to the same folder since.
     *
     * @throws KilnException if it was generated from other inputs
     */
    void requireCurrent() {
        // Fails if nothing was generated.
        store(layout).metadata();
        new Steps(log, layout).outdated(fingerprint()).ifPresent(change -> {
            throw Failure.PROJECT.exception(
                    "the generated C belongs to another build: " + change,
                    layout.generated().toString(),
                    "kiln:generate before this goal, with the same parameters",
                    "Run the whole lifecycle, for example mvn verify, with no other build in this folder at"
                            + " the same time");
        });
    }

    private Fingerprint fingerprint() {
        return inputs(NAME);
    }

    /** What a result depends on that is made from the models and all settings of the build. */
    public Fingerprint inputs(String result) {
        BuildSpec spec = build.spec();
        Fingerprint now = Fingerprint.of(result).value("", build);
        spec.models()
                .forEach(model -> now.value(
                        "files of " + model.name(),
                        model.companions(spec.options(build.board()).reading().limits())));
        return BoardRecords.addTo(now, build);
    }

    private int mlfVersion() {
        return build.spec().models().size() > 1
                ? SEVERAL_MODELS
                : build.spec().archive().version();
    }

    /**
     * The models of a build as libraries.
     *
     * @param compiled those that the compiler made
     * @param archives those that came as C
     * @param linked all in the order of the build, and the system library if the image needs one
     * @param isWhole whether the only archive is taken as it is
     */
    public record Libraries(
            List<CompiledModel> compiled, List<Archive> archives, List<ModelLibrary> linked, boolean isWhole) {
        public Libraries {
            compiled = List.copyOf(compiled);
            archives = List.copyOf(archives);
            linked = List.copyOf(linked);
        }
    }

    /** Compiles the models and writes nothing. */
    public Libraries libraries() {
        List<CompiledModel> compiled = new ArrayList<>();
        List<Archive> archives = new ArrayList<>();
        List<ModelLibrary> libraries = new ArrayList<>();
        Problems problems = new Problems(Failure.CONFIG);
        List<Path> folders = build.spec().codegens().headerFolders(layout.userSources());
        for (ModelSource model : build.spec().models()) {
            if (ModelArchives.accepts(model.file())) {
                Archive archive = ModelArchives.read(model.file());
                archives.add(archive);
                libraries.addAll(chosen(archive, model, folders, problems));
            } else {
                CompiledModel one = compile(model);
                sayRecords(one);
                compiled.add(one);
                libraries.add(AudioInput.before(model, one.library(), log));
            }
        }
        checkNames(libraries, problems);
        checkServed(libraries, problems);
        problems.throwIfAny();
        boolean isWhole = compiled.isEmpty()
                && archives.size() == 1
                && ModelLibraryFormat.hasPresentTree(archives.get(0).version())
                && archives.get(0).models().size() == libraries.size()
                && SystemLibrary.suffices(libraries);
        UnusedFunctions.say(build.spec().codegens(), libraries, log);
        return new Libraries(compiled, archives, linked(libraries, isWhole), isWhole);
    }

    private Collection<Path> generate() {
        Extensions.outdated(GenerateStep.class.getClassLoader()).forEach(log::warn);
        quantizedFiles.clear();
        BoardRecords.announce(build, log);
        Libraries all = libraries();
        List<ModelLibrary> linked = all.linked;
        WholeFiles.clear(layout.generated());
        List<Path> written = all.isWhole
                ? copy(all.archives.get(0), build.spec().models().get(0).file(), linked)
                : write(linked);
        written.addAll(writeViews(build.spec(), all.compiled));
        written.addAll(quantizedFiles.write(all.compiled));
        store(layout).write(linked);
        linked.forEach(library -> {
            log.info(LibrarySummary.of(library));
            NpuReport.of(
                            library.metadata(),
                            Optional.ofNullable(build.spec()
                                    .velaRuns()
                                    .get(library.metadata().name())))
                    .ifPresent(report -> report.lines(library.metadata().name()).forEach(log::info));
            String copies = library.metadata().memory().copies().text();
            if (!copies.isEmpty()) {
                log.info("Model " + library.metadata().name() + ", " + copies);
            }
        });
        return written;
    }

    private void sayRecords(CompiledModel model) {
        model.warnings().forEach(log::warn);
        model.unfitRecords().forEach(unfit -> log.warn(unfit + "; the rules choose, kiln:tune measures it anew"));
        model.choices()
                .recorded()
                .ifPresent(choice -> log.info("Planned by a tuning record: " + ProgramTask.text(choice)));
    }

    private List<ModelLibrary> chosen(Archive archive, ModelSource model, List<Path> folders, Problems problems) {
        List<ModelLibrary> chosen = ModelArchives.chosen(archive, model);
        ArchiveCode.checkIncludes(archive, chosen, folders, problems);
        ArchiveCode.checkCores(archive.name(), chosen, build.board(), layout.userSources(), problems);
        log.info("Archive " + archive.name() + ", version " + archive.version() + " of the Model Library Format");
        return chosen;
    }

    /**
     * The libraries with the system library that the image needs. A server finds functions by their names, so that it needs one
     * even if an archive brings none.
     */
    private List<ModelLibrary> linked(List<ModelLibrary> libraries, boolean isWhole) {
        List<ModelLibrary> united = isWhole
                ? libraries
                : SystemLibrary.united(libraries, build.spec().calls().packed().systemLibrary());
        return isServer() ? SystemLibrary.ensured(united) : united;
    }

    private boolean isServer() {
        return build.spec().application() == Application.RPC;
    }

    private void checkServed(List<ModelLibrary> libraries, Problems problems) {
        libraries.stream()
                .filter(library -> !isServer() && library.metadata().api().executor() == ExecutorKind.NONE)
                .filter(library -> library.origin().isPresent())
                .forEach(library -> problems.add(
                        "archive `" + library.metadata().name()
                                + "` has the style `operator`: nothing in it calls its operators in order",
                        "kiln.application",
                        "rpc, for a host that calls them one by one, or an archive of a whole model",
                        "Set kiln.application to rpc"));
        libraries.stream()
                .filter(library ->
                        isServer() && library.metadata().api().functions().isEmpty())
                .forEach(library -> problems.add(
                        "model `" + library.metadata().name()
                                + "` has the C interface, whose functions an RPC server cannot call",
                        "kiln.application",
                        "an archive with the packed interface",
                        "Export it with --executor-aot-interface-api=packed, or use kiln.application=console"));
    }

    private CompiledModel compile(ModelSource model) {
        BuildSpec spec = build.spec();
        return ModelCompiler.compile(request(build, model, spec.options(build.board()), quantizedFiles.request(model)));
    }

    /** Compiles one of the build's models with other options; a quantized model is compiled as it was written. */
    public static CompiledModel compile(ResolvedBuild build, ModelSource model, Io io, Optimize optimize) {
        ModelSource source = new QuantizedFiles(build.spec(), Log.QUIET).compiled(model);
        CompileOptions options = build.spec().options(build.board());
        return ModelCompiler.compile(request(
                build, source, options.with(optimize).with(options.calls().with(io)), Optional.empty()));
    }

    private static CompileRequest request(
            ResolvedBuild build, ModelSource model, CompileOptions options, Optional<QuantizeRequest> quantize) {
        BuildSpec spec = build.spec();
        CodeTarget target = new CodeTarget(
                Externals.of(
                        CompositeTarget.parse(build.target()), spec.codegens().own()),
                BoardPools.of(
                        build.board(),
                        spec.compiler().memoryLimits(),
                        spec.compiler().fit().limits().ram(),
                        spec.models().size()),
                build.objects().<ObjectCompiler>map(objects -> objects.optimizing(options.optimize())));
        return new CompileRequest(
                model.input(),
                target,
                alone(
                        spec.update().hasSlots() ? options.with(RamOptions.NONE) : options,
                        spec.models().size()),
                spec.archive().slim(),
                quantize,
                BoardRecords.best(build));
    }

    /** Options to compile a model by itself. Several models share one system library, which is none of theirs. */
    private static CompileOptions alone(CompileOptions options, int models) {
        CallOptions calls = options.calls();
        return models == 1
                ? options
                : options.with(
                        calls.with(new PackedOptions(false, calls.packed().checked())));
    }

    /**
     * Checks that all models have different names. Archives bring their own, so that all names are known only now. Case is ignored
     * because some file systems ignore it.
     */
    private static void checkNames(List<ModelLibrary> libraries, Problems problems) {
        Set<String> seen = new HashSet<>();
        for (ModelLibrary library : libraries) {
            String name = library.metadata().name();
            if (!seen.add(name.toLowerCase(Locale.ROOT))) {
                problems.add(
                        "two models are named `" + name + "`",
                        "kiln.model",
                        "a different name for every model",
                        "Export one of the archives with another --module-name, or set <name> of a model that is not"
                                + " an archive");
            }
        }
    }

    private List<Path> write(List<ModelLibrary> libraries) {
        int version = libraries.size() > 1 ? SEVERAL_MODELS : mlfVersion();
        Bytes archive = ModelLibraryFormat.write(
                libraries, Options.of(version, build.spec().archive().timestamp(), PluginVersion.released()));
        List<Path> written = unpack(archive, layout.generated());
        WholeFiles.write(archive(layout), archive.toArray());
        written.add(archive(layout));
        return written;
    }

    /** Copies an archive. One used unchanged is copied byte for byte; C that it lacks is only beside it. */
    private List<Path> copy(Archive archive, Path file, List<ModelLibrary> linked) {
        SortedMap<String, Bytes> files = new TreeMap<>(archive.files());
        linked.forEach(model -> model.artifacts()
                .of(ArtifactKind.SOURCE)
                .forEach(source -> files.putIfAbsent(ArchivePaths.of(source), source.content())));
        List<Path> written = unpack(files, layout.generated());
        WholeFiles.copy(file, archive(layout));
        written.add(archive(layout));
        return written;
    }

    /** Describes a compiled model for the log. */
    private static final class LibrarySummary {
        private LibrarySummary() {}

        static String of(ModelLibrary library) {
            ModelMetadata model = library.metadata();
            if (library.isForeign()) {
                return String.format(
                        Locale.ROOT,
                        "Model %s, made for %s: %d operators, %,d bytes of constants, %,d of workspace",
                        model.name(),
                        model.target(),
                        model.operators().size(),
                        model.constantBytes(),
                        model.workspaceBytes());
            }
            long macs = model.operators().stream().mapToLong(OperatorInfo::macs).sum();
            return String.format(
                            Locale.ROOT,
                            "Model %s: %d operators, %,d MACs, %,d bytes of constants, %,d of workspace (lower bound"
                                    + " %,d)",
                            model.name(),
                            model.operators().size(),
                            macs,
                            model.constantBytes(),
                            model.workspaceBytes(),
                            model.plan().lowerBound())
                    + onNpu(model);
        }

        /** The share of the work that an NPU does, and what stayed on the core; empty without one. */
        private static String onNpu(ModelMetadata model) {
            return NpuReport.of(model, Optional.empty())
                    .map(npu -> String.format(
                            Locale.ROOT,
                            "; %s on the NPU in %d parts, on the core %s",
                            npu.share(),
                            npu.onNpu().operators(),
                            stayed(model)))
                    .orElse("");
        }

        private static String stayed(ModelMetadata model) {
            Set<String> stayed = NpuReport.onCore(model).stream()
                    .map(OperatorInfo::op)
                    .collect(Collectors.toCollection(TreeSet::new));
            return stayed.isEmpty() ? "nothing" : String.join(", ", stayed);
        }
    }

    /** C functions of the user that no model calls: their chains of operators occur nowhere. */
    private static final class UnusedFunctions {
        private UnusedFunctions() {}

        /** Warns of each one. */
        static void say(CodegenSpec codegens, List<ModelLibrary> libraries, Log log) {
            Set<String> used = libraries.stream()
                    .flatMap(library -> library.metadata().operators().stream())
                    .map(operator -> operator.choice().codegen().composite())
                    .collect(Collectors.toSet());
            codegens.externals().stream()
                    .filter(external -> !used.contains(UserFunctions.NAME + "." + external.name()))
                    .forEach(external ->
                            log.warn("`" + external.name() + "` of <externals> takes no operators: no model has `"
                                    + String.join(" ", external.operators())
                                    + "`, or a code generator before it takes them. -Dkiln.dumpIr shows the"
                                    + " operators"));
        }
    }

    /** Writes the files of an archive below a folder and returns their paths. The archive's reader has checked that the paths are safe. */
    private static List<Path> unpack(SortedMap<String, Bytes> files, Path folder) {
        List<Path> written = new ArrayList<>();
        files.forEach((path, content) -> {
            Path file = folder.resolve(path);
            WholeFiles.write(file, content.toArray());
            written.add(file);
        });
        return written;
    }

    /** Writes every file of an archive written by Kiln below a folder and returns their paths. */
    private static List<Path> unpack(Bytes archive, Path folder) {
        List<Path> written = new ArrayList<>();
        try (TarArchiveInputStream tar =
                new TarArchiveInputStream(new ByteArrayInputStream(archive.toArray()), StandardCharsets.UTF_8.name())) {
            for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                if (entry.isFile()) {
                    Path file = folder.resolve(entry.getName()).normalize();
                    WholeFiles.write(file, tar.readAllBytes());
                    written.add(file);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("an archive just written cannot be read", e);
        }
        return written;
    }

    /**
     * Writes the views; dumps of an earlier run are always deleted.
     *
     * @param models those of the request that were compiled, in its order
     * @return the files written
     */
    private static List<Path> writeViews(BuildSpec spec, List<CompiledModel> models) {
        List<Path> written = dumps(spec, models);
        List<Path> files = spec.models().stream()
                .map(ModelSource::file)
                .filter(file -> !ModelArchives.accepts(file))
                .toList();
        for (int i = 0; i < models.size(); i++) {
            String file = String.valueOf(files.get(i).getFileName());
            written.add(BuildPage.keepGraph(spec.layout(), models.get(i), file));
        }
        return written;
    }

    /** Writes the dumps of the IR; with several models, each has its own folder. */
    private static List<Path> dumps(BuildSpec spec, List<CompiledModel> models) {
        Path ir = spec.layout().ir();
        WholeFiles.clear(ir);
        List<Path> written = new ArrayList<>();
        if (spec.compiler().dumpIr()) {
            for (CompiledModel model : models) {
                Path folder =
                        models.size() == 1 ? ir : ir.resolve(model.imported().name());
                written.addAll(IrDump.write(model, folder));
            }
        }
        return written;
    }

    /** The signal processing before a model of the build. */
    public static final class AudioInput {
        private AudioInput() {}

        /**
         * The signal processing of a model; empty if it has none.
         *
         * @throws io.kiln.base.KilnException with every mistake in its file, and everything in which the model's input does not fit
         */
        public static Optional<ModelPreprocessing> of(ModelSource source, ModelMetadata model) {
            return source.preprocessing().map(file -> Preprocessing.read(file).of(model));
        }

        /** The signal processing of all generated models of a build, by their names. An archive brings only its C. */
        public static SortedMap<String, ModelPreprocessing> ofAll(BuildSpec build) {
            SortedMap<String, ModelPreprocessing> found = new TreeMap<>();
            for (ModelMetadata model : GenerateStep.store(build.layout()).hearing()) {
                build.models().stream()
                        .filter(source -> source.name().equals(model.name()))
                        .flatMap(source -> of(source, model).stream())
                        .forEach(preprocessing -> found.put(model.name(), preprocessing));
            }
            return found;
        }

        /** The costs of the signal processing before the models of a build. */
        static List<PreprocessingReport> costs(ResolvedBuild build, CompiledObjects objects) {
            return ofAll(build.spec()).entrySet().stream()
                    .map(each -> new PreprocessingReport(
                            each.getKey(),
                            each.getValue().frames(),
                            each.getValue().features(),
                            build.board().isHost() ? null : codeBytes(each.getKey(), objects),
                            each.getValue().tableBytes(),
                            each.getValue().stateBytes(),
                            null,
                            null))
                    .toList();
        }

        private static long codeBytes(String model, CompiledObjects objects) {
            String source = new InterfaceNames(model).preprocessSource();
            return objects.files().entrySet().stream()
                    .filter(file -> file.getKey().endsWith("/" + source))
                    .flatMap(file -> ElfFile.read(file.getValue()).sections().stream())
                    .filter(section -> section.isAllocated() && section.hasContent())
                    .filter(section -> !section.name().startsWith(InterfaceNames.CONSTANTS_SECTION))
                    .mapToLong(ElfFile.Section::size)
                    .sum();
        }

        /** The library with the C of the model's signal processing. */
        public static ModelLibrary before(ModelSource source, ModelLibrary library, Log log) {
            return of(source, library.metadata())
                    .map(preprocessing -> {
                        log.info(preprocessing.summary());
                        List<Artifact> all = new ArrayList<>(library.artifacts().artifacts());
                        all.addAll(preprocessing.code());
                        return new ModelLibrary(
                                library.metadata(), library.artifacts().with(all), library.origin());
                    })
                    .orElse(library);
        }
    }
}
