// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.artifact.ArchivePaths;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.LinkPlan;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.RuntimeConfig;
import io.kiln.artifact.RuntimeFeature;
import io.kiln.artifact.RuntimeFiles;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.base.ResourceTree;
import io.kiln.firmware.CodeSupport.ArmIntrinsics;
import io.kiln.firmware.FirmwareAssembler.NpuSources;
import io.kiln.firmware.FirmwareProject.Strangers;
import io.kiln.firmware.FirmwareRequest.BroughtSources;
import io.kiln.firmware.OwnParts.InterruptTable;
import io.kiln.firmware.app.DefaultApplication;
import io.kiln.firmware.app.DefaultApplication.Application;
import io.kiln.firmware.app.GraphData;
import io.kiln.firmware.image.WorkspaceMemory;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.SourceKind;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Collects the files of a C project in memory. The folders of models and runtime are those of a Model Library Format
 * archive, so that an unpacked archive can replace them.
 */
final class ProjectFiles {
    static final String BOARD = "board";
    static final String SHIMS = "shims";
    static final String APPLICATION = "app";
    static final String USER = "main";

    private static final Set<String> BOARD_PAPERS =
            Set.of("board.yaml", "README.md", "tuning.log", InterruptTable.LIST);

    private final TreeMap<String, Bytes> files = new TreeMap<>();
    private final List<SourceUnit> units = new ArrayList<>();
    private final List<String> objects = new ArrayList<>();
    private final TreeMap<String, String> strangers = new TreeMap<>();
    private final Problems problems = new Problems(Failure.CODE);
    private boolean hasOwnSectors;
    private boolean hasParameters;

    /** All files of a request, in link order. */
    static ProjectFiles of(FirmwareRequest request, SortedMap<String, Bytes> user) {
        ProjectFiles project = new ProjectFiles();
        project.board(request);
        project.runtime(request, user);
        if (request.toolchain().shims()) {
            project.shims();
        }
        project.hasOwnSectors = request.board().parameters().isPresent() && request.application() != Application.RPC;
        request.models()
                .forEach(model ->
                        project.model(model, request.content().options().trusted()));
        project.brought(request.brought());
        NpuSources.files(request, user)
                .forEach((name, content) -> project.addOwn(name, content, NpuSources.kind(request.board())));
        ArmIntrinsics.header(request.models()).ifPresent(header -> project.add(ArmIntrinsics.FILE, header));
        request.extra().files().forEach((name, content) -> project.addOwn(name, content, SourceKind.SMALL));
        if (!request.extra().isAlone()) {
            project.memory(request, user);
            project.application(request, user);
        }
        if (request.toolchain().isHost() && !project.strangers.isEmpty()) {
            project.hostedHeaders();
        }
        project.problems.throwIfAny();
        return project;
    }

    /** Whether parameters of graphs lie in flash sectors of their own. */
    boolean hasParameters() {
        return hasParameters;
    }

    SortedMap<String, Bytes> files() {
        return files;
    }

    List<SourceUnit> units() {
        return units;
    }

    List<String> objects() {
        return objects;
    }

    Strangers strangers() {
        return new Strangers(strangers);
    }

    /** Files that are neither compiled nor linked. */
    List<String> headers() {
        Set<String> compiled = units.stream().map(SourceUnit::path).collect(Collectors.toSet());
        return files.keySet().stream()
                .filter(file -> !compiled.contains(file) && !objects.contains(file))
                .toList();
    }

    boolean has(String folder) {
        return files.keySet().stream().anyMatch(file -> file.startsWith(folder + "/"));
    }

    private void board(FirmwareRequest request) {
        Board board = request.application() == Application.MLPERF_TINY
                ? request.content().options().mlperf().at(request.board())
                : request.board();
        board.files().forEach((name, content) -> {
            if (!BOARD_PAPERS.contains(name) && !name.endsWith(".svd")) {
                add(BOARD + "/" + name, content);
                if (request.board().foreignFiles().contains(name)) {
                    strangers.put(BOARD + "/" + name, request.board().trustAdvice());
                }
            }
        });
        if (!request.extra().isAlone()) {
            request.board().sources().forEach(name -> compile(BOARD + "/" + name, SourceKind.FREESTANDING));
        }
    }

    /** The parts of the C runtime that the project uses, with limits that models need which are looked up by name. */
    private void runtime(FirmwareRequest request, SortedMap<String, Bytes> user) {
        Stream<Bytes> board = request.board().sources().stream()
                .map(name -> request.board().files().get(name));
        Stream<Bytes> models = request.models().stream()
                .flatMap(model -> model.artifacts().of(ArtifactKind.SOURCE).stream())
                .map(Artifact::content);
        Stream<Bytes> application = Stream.concat(
                user.values().stream(),
                request.application() == Application.RPC
                        ? DefaultApplication.server().values().stream()
                        : Stream.empty());
        Set<RuntimeFeature> features = EnumSet.copyOf(RuntimeFeature.usedBy(
                Stream.concat(board, Stream.concat(models, application)).toList()));
        if (request.application() != Application.RPC
                && request.models().stream().anyMatch(ProjectFiles::isGraph)) {
            features.addAll(RuntimeFeature.closure(Set.of(RuntimeFeature.GRAPH_EXECUTOR)));
        }
        RuntimeConfig config = RuntimeConfig.of(
                features.contains(RuntimeFeature.REGISTRY)
                        ? request.models().stream().map(ModelLibrary::metadata).toList()
                        : List.of());
        RuntimeFiles.runtime(features).stream()
                .map(config::applyTo)
                .forEach(file -> addOwn(ArchivePaths.RUNTIME + "/" + file.fileName(), file.content(), SourceKind.OWN));
    }

    private void shims() {
        ResourceTree.read("shims")
                .forEach((name, content) -> addOwn(SHIMS + "/" + name, content, SourceKind.FREESTANDING));
    }

    /** The C library's headers for untrusted code of this computer; trusted code includes those of the system. */
    private void hostedHeaders() {
        TreeMap<String, Bytes> headers = new TreeMap<>(ResourceTree.read("shims/include"));
        headers.putAll(ResourceTree.read("hosted"));
        headers.forEach((name, content) -> add(SHIMS + "/include/" + name, content));
    }

    private void addOwn(String path, Bytes content, SourceKind kind) {
        add(path, content);
        if (isSource(path)) {
            compile(path, kind);
        }
    }

    private void brought(BroughtSources library) {
        library.files().forEach((name, content) -> {
            String path = library.folder() + "/" + name;
            add(path, content);
            if (isSource(name)) {
                compile(path, SourceKind.USER);
            }
        });
    }

    private void model(ModelLibrary library, TrustedArchives trusted) {
        Set<String> before = Set.copyOf(files.keySet());
        addModel(library);
        if (library.isForeign() && library.origin().filter(trusted::contains).isEmpty()) {
            String advice = library.origin()
                    .map(TrustedArchives::advice)
                    .orElse("Its archive can be trusted by kiln.trustArchive");
            files.keySet().stream().filter(name -> !before.contains(name)).forEach(name -> strangers.put(name, advice));
            objects.stream()
                    .filter(strangers::containsKey)
                    .forEach(name -> problems.add(
                            "refused in an archive that is not trusted: object code, which cannot be checked",
                            name,
                            "C",
                            advice));
        }
    }

    private void addModel(ModelLibrary library) {
        for (Artifact artifact : library.artifacts().artifacts()) {
            String path = ArchivePaths.of(artifact);
            switch (LinkPlan.action(artifact.kind())) {
                case COMPILED -> {
                    add(path, artifact.content());
                    compile(path, artifact.isForeign() ? SourceKind.FOREIGN : SourceKind.OWN);
                }
                case INCLUDED, COPIED -> add(path, artifact.content());
                case LINKED -> {
                    add(path, artifact.content());
                    objects.add(path);
                }
                case EMBEDDED, LEFT_OUT -> {
                    // Graphs become C below; the project has its own runtime, and text is not compiled.
                }
            }
        }
        if (isGraph(library)) {
            GraphData data = GraphData.of(library, hasOwnSectors);
            add(
                    ArchivePaths.of(
                            ArtifactKind.HEADER,
                            GraphData.header(library.metadata().name())),
                    data.headerText());
            data.sources()
                    .forEach((name, text) -> addOwn(ArchivePaths.of(ArtifactKind.SOURCE, name), text, SourceKind.OWN));
            hasParameters |= data.hasOwnSectors();
        }
    }

    private static boolean isGraph(ModelLibrary library) {
        return library.metadata().api().executor() == ExecutorKind.GRAPH;
    }

    /** Memory for models that allocate at run time, unless the project defines the allocator. */
    private void memory(FirmwareRequest request, SortedMap<String, Bytes> user) {
        if (request.application() == Application.RPC) {
            return; // The server has memory for all.
        }
        WorkspaceMemory.file(request.models(), user.values()).ifPresent(text -> {
            String path = ArchivePaths.RUNTIME + "/" + ArchivePaths.SRC + "/" + WorkspaceMemory.FILE;
            add(path, Bytes.ofText(text));
            compile(path, SourceKind.OWN);
        });
    }

    private void application(FirmwareRequest request, SortedMap<String, Bytes> user) {
        boolean hasTests = request.code().hasTests();
        user.forEach((name, content) -> {
            add(name, content);
            if (isCompiled(request.code(), name) && !(hasTests && isMain(name, content))) {
                compile(name, UserFile.isCplusplus(name) ? SourceKind.CPLUSPLUS : SourceKind.USER);
            }
        });
        CodeSupport.files(request, units).forEach((name, content) -> addOwn(name, content, CodeSupport.kind(name)));
        boolean ownMain = hasTests
                || user.entrySet().stream()
                        .anyMatch(file ->
                                isCompiled(request.code(), file.getKey()) && isMain(file.getKey(), file.getValue()));
        if (ownMain && request.application() == Application.RPC) {
            problems.add(
                    "the project has a main of its own, and the application of the image shall be the RPC server",
                    "kiln.application",
                    "one of them",
                    "Leave kiln.application out, or start the server in your main:"
                            + " tvm/runtime/crt/microtvm_rpc_server.h");
        }
        if (!ownMain || request.application() == Application.MLPERF_TINY) {
            // A benchmark measures the model, and nothing around it.
            SourceKind kind = request.application() == Application.MLPERF_TINY ? SourceKind.SMALL : SourceKind.OWN;
            defaultApplication(request, ownMain)
                    .forEach((name, content) -> addOwn(APPLICATION + "/" + name, content, kind));
            if (request.board().isHost() && !strangers.isEmpty()) {
                ResourceTree.read("templates/host")
                        .forEach((name, content) -> addOwn(APPLICATION + "/" + name, content, SourceKind.FREESTANDING));
            }
        }
    }

    private static SortedMap<String, Bytes> defaultApplication(FirmwareRequest request, boolean ownMain) {
        return switch (request.application()) {
            case RPC -> DefaultApplication.server();
            case CONSOLE -> DefaultApplication.running(request.models());
            case MLPERF_TINY ->
                DefaultApplication.measured(
                        request.models(),
                        request.board(),
                        request.content().options().mlperf(),
                        ownMain);
        };
    }

    private void add(String path, Bytes content) {
        Bytes other = files.putIfAbsent(path, content);
        if (other != null && !other.equals(content)) {
            problems.add("two models bring a file of this name", path, "models with different names", "Set kiln.name");
        }
    }

    private void compile(String path, SourceKind kind) {
        SourceUnit unit = new SourceUnit(path, kind);
        if (!units.contains(unit)) {
            units.add(unit);
        }
    }

    private static boolean isSource(String name) {
        return name.endsWith(".c") || name.endsWith(".S") || name.endsWith(".s") || UserFile.isCplusplus(name);
    }

    private static boolean isMain(String name, Bytes content) {
        return MainFunction.isDefinedIn(name, content.text());
    }

    private static boolean isCompiled(UserCode code, String name) {
        return isSource(name)
                && code.folderOf(name)
                        .filter(folder -> folder.role().isCompiled())
                        .isPresent();
    }
}
