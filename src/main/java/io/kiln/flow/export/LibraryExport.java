// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.export;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.Convention;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile;
import io.kiln.artifact.ParameterFile.NdArrayFormat;
import io.kiln.artifact.RuntimeFeature;
import io.kiln.artifact.RuntimeFiles;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.Problems;
import io.kiln.base.ResourceTree;
import io.kiln.base.TargetText;
import io.kiln.base.WholeFiles;
import io.kiln.compile.CallOptions;
import io.kiln.compile.CodeTarget;
import io.kiln.compile.CompileOptions;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.ModelCompiler;
import io.kiln.executor.PlannedModule.PackedOptions;
import io.kiln.flow.build.QuantizedFiles;
import io.kiln.flow.resolve.ModelFiles.ModelArchives;
import io.kiln.flow.resolve.Resolver.LibraryTarget;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.CompilerSpec.CodegenSpec;
import io.kiln.module.ArtifactLoaders;
import io.kiln.module.BuiltInModules.AotFactoryModule;
import io.kiln.module.BuiltInModules.GraphFactoryModule;
import io.kiln.module.BuiltInModules.MetadataModule;
import io.kiln.module.ModuleBlob;
import io.kiln.module.ModuleExport;
import io.kiln.module.ModuleExport.BlobSource;
import io.kiln.module.ModuleLoaders;
import io.kiln.module.ModuleReader;
import io.kiln.module.ModuleTree;
import io.kiln.module.ModuleTree.LinkedCode;
import io.kiln.module.ModuleTree.ModuleNode;
import io.kiln.module.SerializedArray;
import io.kiln.module.SharedLibrary;
import io.kiln.module.SharedLibrary.ArtifactGroups;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.target.TargetKind;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Makes {@code lib<model>.so} for this computer: the model's operators with the packed calling convention, and the factory of an executor, as TVM's {@code
 * load_module} takes it: {@code library[name](device)} is the executor. Each library is read back before it counts as made.
 *
 * @param environment where toolchains come from
 * @param withArtifacts whether the library carries the artifacts rather than modules, for Kiln's own loader
 */
public record LibraryExport(Log log, BuildSpec spec, ToolchainEnvironment environment, boolean withArtifacts) {
    /** The value of {@code kiln.export} for such a library. */
    public static final String KIND = "library";

    private static final String COMPILER = "cc";
    private static final String LAST_ERROR = "-DTVMAPISetLastError=kiln_set_last_error";
    private static final String SUPPORT = "kiln_library.c";
    private static final Duration LIMIT = Duration.ofMinutes(10);

    /**
     * Makes the libraries.
     *
     * @return their files
     * @throws KilnException if a model cannot be compiled, or the compiler is missing or refuses the code
     */
    public List<Path> run() {
        Problems problems = new Problems(Failure.TOOL);
        Exportable.check(spec, problems);
        problems.throwIfAny();
        List<Path> files = new ArrayList<>();
        for (ModelSource model : spec.models()) {
            files.add(export(model));
        }
        return files;
    }

    private Path export(ModelSource model) {
        ModelLibrary library = compile(model);
        Path work = spec.layout().out().resolve("export").resolve(KIND).resolve(model.name());
        WholeFiles.clear(work);
        List<String> sources = sources(library, work);
        Path file = spec.layout().out().resolve("lib" + model.name() + ".so");
        link(library, work, sources, work.resolve("library.so"));
        SharedLibrary made = SharedLibrary.read(work.resolve("library.so"), ModuleLoaders.installed());
        move(work.resolve("library.so"), file);
        int modules = made.tree().modules().size();
        log.info("Library " + file + ": " + made.functions().size() + " functions, " + modules
                + (modules == 1 ? " module" : " modules"));
        return file;
    }

    private ModelLibrary compile(ModelSource model) {
        LibraryTarget target = LibraryTarget.of(spec, List.of("-fPIC", LAST_ERROR), environment);
        CompileOptions options = spec.options();
        CallOptions calls = options.calls();
        CompileRequest request = new CompileRequest(
                model.input(),
                CodeTarget.of(target.text(), target.objects()),
                options.with(calls.with(Convention.PACKED)
                        .with(new PackedOptions(false, calls.packed().checked()))
                        .with(Io.CALLER)),
                new QuantizedFiles(spec, log).request(model));
        return ModelCompiler.compile(request).library();
    }

    /** Writes the files to compile; returns their names. */
    private List<String> sources(ModelLibrary library, Path work) {
        List<String> sources = new ArrayList<>();
        for (Artifact artifact : library.artifacts().artifacts()) {
            if (artifact.kind().isNative()) {
                WholeFiles.write(
                        work.resolve(artifact.fileName()), artifact.content().toArray());
            }
            if (artifact.kind() == ArtifactKind.SOURCE || artifact.kind() == ArtifactKind.OBJECT) {
                sources.add(artifact.fileName());
            }
        }
        RuntimeFiles.runtime(Set.of(RuntimeFeature.values())).stream()
                .filter(file -> file.fileName().startsWith("include/"))
                .forEach(file -> WholeFiles.write(
                        work.resolve("runtime").resolve(file.fileName()),
                        file.content().toArray()));
        WholeFiles.write(work, ResourceTree.read("export/" + KIND));
        sources.add(SUPPORT);
        WholeFiles.write(work.resolve(BlobSource.FILE), blob(library));
        sources.add(BlobSource.FILE);
        return sources;
    }

    private String blob(ModelLibrary library) {
        return BlobSource.of(
                withArtifacts ? ArtifactGroups.write(library.artifacts()) : ModuleBlob.write(modules(library)));
    }

    private void link(ModelLibrary library, Path work, List<String> sources, Path file) {
        List<String> line = new ArrayList<>(List.of("-shared", "-fPIC", "-std=c11", optimization()));
        // Float models answer the same everywhere: no fused multiply-add that the model does not have.
        line.addAll(List.of("-ffp-contract=off", "-fno-math-errno", "-Wl,--build-id=none"));
        line.addAll(List.of(LAST_ERROR, "-Iruntime/include", "-I."));
        if (library.metadata().api().executor() == ExecutorKind.AOT) {
            line.add("-DKILN_MODEL=tvmgen_" + library.metadata().name());
        }
        line.addAll(sources);
        line.addAll(List.of("-o", String.valueOf(file.getFileName()), "-lm"));
        ProcessResult result =
                ProcessRunner.run(Command.of(COMPILER, line).in(work).within(LIMIT));
        if (!result.succeeded()) {
            throw Failure.TOOL.exception(
                    "the compiler of this computer does not make a library: " + result.message(),
                    "model `" + library.metadata().name() + "`",
                    "a C compiler, `cc`",
                    "Install one, for example by apt-get install gcc libc6-dev");
        }
    }

    private String optimization() {
        return spec.optimize() == Optimize.SPEED ? "-O3" : spec.optimize() == Optimize.SIZE ? "-Os" : "-O2";
    }

    private static void move(Path from, Path to) {
        try {
            WholeFiles.write(to, Files.readAllBytes(from));
            Files.delete(from);
        } catch (IOException e) {
            throw FileFailure.of("cannot move", from, e);
        }
    }

    /**
     * The modules of a model: a factory, from which TVM makes the executor, and the C that it imports, which imports the modules that loaders make from
     * payloads. The graph executor's factory has the graph and its parameters; that of the ahead-of-time executor imports what tells the metadata in the C.
     */
    private static ModuleTree modules(ModelLibrary library) {
        List<ModuleNode> payloads = ArtifactLoaders.installed().load(library.artifacts());
        List<ModuleNode> modules = new ArrayList<>();
        if (library.metadata().api().executor() == ExecutorKind.GRAPH) {
            modules.add(new ModuleNode("GraphExecutorFactory", graph(library), List.of(1)));
        } else {
            String name = library.metadata().name();
            modules.add(
                    new ModuleNode("AotExecutorFactory", new AotFactoryModule(List.of(), List.of(), name), List.of(1)));
            modules.add(new ModuleNode("metadata_module", new MetadataModule(), List.of(2)));
        }
        int first = modules.size() + 1;
        modules.add(new ModuleNode(
                "c",
                new LinkedCode(List.of()),
                IntStream.range(first, first + payloads.size()).boxed().toList()));
        modules.addAll(payloads);
        return ModuleExport.tree(modules);
    }

    private static GraphFactoryModule graph(ModelLibrary library) {
        String name = library.metadata().name();
        Artifact graph = library.artifacts().of(ArtifactKind.GRAPH).get(0);
        List<NamedTensor> tensors = library.artifacts().of(ArtifactKind.PARAMETERS).stream()
                .flatMap(file -> ParameterFile.read(file.content(), file.fileName()).stream())
                .sorted(Comparator.comparing(NamedTensor::name))
                .toList();
        List<SerializedArray> arrays = tensors.stream()
                .map(tensor -> SerializedArray.read(new ModuleReader(NdArrayFormat.encode(tensor), tensor.name())))
                .toList();
        return new GraphFactoryModule(
                graph.content(), tensors.stream().map(NamedTensor::name).toList(), arrays, name);
    }

    /** Checks that a build's models can be exported. */
    static final class Exportable {
        private Exportable() {}

        /** Adds the problems that prevent any export of the build's models. */
        static void check(BuildSpec spec, Problems problems) {
            spec.malformed().forEach(problems::add);
            if (spec.models().isEmpty()) {
                problems.add("there is no model to export", "kiln.model", "a model file", "Name one with -Dkiln.model");
            }
            for (ModelSource model : spec.models()) {
                if (ModelArchives.accepts(model.file())) {
                    problems.add(
                            "is an archive, whose C was not made for a library",
                            model.file().toString(),
                            "a .tflite, .onnx or .relay model",
                            "Export the model of which the archive was made");
                }
            }
        }

        /** Adds the problems that prevent an export as sources: code that is not C, and other interfaces than the typed one. */
        static void checkIsOfC(BuildSpec spec, Problems problems) {
            CodegenSpec codegens = spec.codegens();
            String target = codegens.target()
                    .orElseGet(() ->
                            TargetText.kind(spec.boards().find(spec.board()).target()));
            if (!target.strip().equals(TargetKind.C.text())
                    || !codegens.externals().isEmpty()) {
                problems.add(
                        "the code is not C alone: the target is '" + target + "', and "
                                + codegens.externals().size()
                                + " chains of operators are computed by functions of your own",
                        "kiln.target, externals",
                        TargetKind.C.text(),
                        "Set -Dkiln.target=c, without externals: the answers are the same");
            }
            if (!spec.calls().equals(CallOptions.TYPED)) {
                problems.add(
                        "a library of C sources has the typed interface of the ahead-of-time executor, with tensors of the caller",
                        "kiln.executor, kiln.interfaceApi, kiln.io",
                        "aot, c, caller",
                        "Leave these parameters out");
            }
        }
    }
}
