// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.artifact.ArchivePaths;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.GraphFile;
import io.kiln.artifact.GraphFile.Node;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.LinkPlan;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Storage;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.OperatorInfo;
import io.kiln.artifact.RuntimeFeature;
import io.kiln.artifact.RuntimeFiles;
import io.kiln.artifact.RuntimeFiles.RuntimeConfig;
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
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.SourceKind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
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

    /**
     * Memory for models that allocate at run time, such as TVM's models built without a memory planner: {@code
     * TVMPlatformMemoryAllocate} and {@code TVMPlatformMemoryFree} on the stack allocator, with as much memory as the
     * metadata states for a run.
     */
    public static final class WorkspaceMemory {
        public static final String FILE = "workspace_memory.c";

        private static final String FUNCTION = "TVMBackendAllocWorkspace";
        private static final String CALL = FUNCTION + "(";
        private static final int BLOCKS_FOR_EACH_OPERATOR = 4;

        private static final Pattern OWN_HOOK =
                Pattern.compile("\\bTVMPlatformMemoryAllocate\\s*\\([^;{}]*\\)\\s*\\{", Pattern.DOTALL);

        private WorkspaceMemory() {}

        /**
         * The C file, if a model allocates memory.
         *
         * @param models all models of the image; one runs at a time
         * @param userSources the project's own files; one that defines the hook replaces this file
         */
        public static Optional<String> file(List<ModelLibrary> models, Collection<Bytes> userSources) {
            Optional<Need> need = models.stream()
                    .map(WorkspaceMemory::need)
                    .filter(one -> one.blocks() > 0)
                    .reduce(Need::both);
            List<GraphMemory> graphs = models.stream()
                    .filter(model -> !model.artifacts().of(ArtifactKind.GRAPH).isEmpty())
                    .map(GraphMemory::of)
                    .toList();
            if (need.isEmpty() && !graphs.isEmpty()) {
                need = Optional.of(new Need(0, 0));
            }
            boolean isTakenCareOf = userSources.stream()
                    .anyMatch(file -> OWN_HOOK.matcher(file.text()).find());
            return isTakenCareOf ? Optional.empty() : need.map(one -> print(one, graphs));
        }

        /** Largest need of a model: all of its blocks can be live at once. The metadata's sum does not include the rounding of block sizes. */
        private record Need(long bytes, long blocks) {
            Need both(Need other) {
                return new Need(Math.max(bytes, other.bytes), Math.max(blocks, other.blocks));
            }
        }

        private static Need need(ModelLibrary model) {
            long calls = model.artifacts().of(ArtifactKind.SOURCE).stream()
                    .filter(Artifact::isForeign)
                    .mapToLong(source -> calls(source.text()))
                    .sum();
            return new Need(
                    model.artifacts().of(ArtifactKind.GRAPH).isEmpty()
                            ? model.metadata().workspaceBytes()
                            : GraphMemory.operatorBytes(model.metadata()),
                    calls + objectCalls(model));
        }

        /**
         * Number of allocations of models in object code, which does not tell how many calls there are: one for each operator's result,
         * and some for operators.
         */
        private static long objectCalls(ModelLibrary model) {
            boolean asks = model.artifacts().of(ArtifactKind.OBJECT).stream()
                    .map(object -> new String(object.content().toArray(), StandardCharsets.ISO_8859_1))
                    .anyMatch(bytes -> bytes.contains(FUNCTION));
            return asks
                    ? BLOCKS_FOR_EACH_OPERATOR
                            * (1L + model.metadata().operators().size())
                    : 0;
        }

        private static long calls(String source) {
            long calls = 0;
            for (int at = source.indexOf(CALL); at >= 0; at = source.indexOf(CALL, at + CALL.length())) {
                calls++;
            }
            return calls;
        }

        private static String print(Need need, List<GraphMemory> graphs) {
            return String.format(
                    Locale.ROOT,
                    """
                    /* SPDX-License-Identifier: Apache-2.0
                     * Made by Kiln for models that ask for memory while they run; this file is yours to use without conditions.
                     * Define TVMPlatformMemoryAllocate and TVMPlatformMemoryFree in your own C to have it left out.
                     */
                    #include <tvm/runtime/crt/platform.h>
                    #include <tvm/runtime/crt/stack_allocator.h>
                    %s
                    /* What the blocks hold together, and how many there are at most. */
                    #define BYTES (%s)
                    #define BLOCKS %du

                    /* What a block may take beside. */
                    #ifdef TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK
                    #define BESIDE (TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES + STACK_ALLOCATOR_TAG_SIZE_BYTES)
                    #else
                    #define BESIDE TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES
                    #endif

                    __attribute__((section("%s"), aligned(TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES))) static uint8_t
                        memory[BYTES + BLOCKS * BESIDE];
                    static tvm_workspace_t workspace;

                    tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice dev, void** out_ptr) {
                      (void)dev;
                      *out_ptr = NULL;
                      if (num_bytes > sizeof(memory)) {
                        return kTvmErrorPlatformNoMemory;
                      }
                      if (workspace.workspace == NULL) {
                        tvm_crt_error_t error = StackMemoryManager_Init(&workspace, memory, sizeof(memory));
                        if (error != kTvmErrorNoError) {
                          return error;
                        }
                      }
                      return StackMemoryManager_Allocate(&workspace, (int32_t)num_bytes, out_ptr);
                    }

                    tvm_crt_error_t TVMPlatformMemoryFree(void* ptr, DLDevice dev) {
                      (void)dev;
                      return StackMemoryManager_Free(&workspace, ptr);
                    }
                    """,
                    graphs.isEmpty() ? "" : GraphMemory.INCLUDE + "\n",
                    Stream.concat(Stream.of(need.bytes() + "u"), graphs.stream().map(GraphMemory::expression))
                            .collect(Collectors.joining(" + \\\n               ")),
                    need.blocks() + GraphMemory.blocks(graphs),
                    InterfaceNames.WORKSPACE_SECTION);
        }

        /**
         * The memory that the graph executor of the C runtime allocates for a model whose inputs are passed in.
         *
         * @param bytes of its tensors
         * @param blocks of these
         * @param counts arguments of {@code TVM_GRAPH_EXECUTOR_BYTES}
         */
        private record GraphMemory(long bytes, long blocks, List<Long> counts) {
            /** The header that defines the size of an executor. */
            static final String INCLUDE = "#include <tvm/runtime/crt/internal/graph_executor/graph_executor.h>\n";

            /** Blocks that an executor allocates for itself and for its nodes. */
            private static final int BLOCKS_OF_ITS_OWN = 2;

            GraphMemory {
                counts = List.copyOf(counts);
            }

            static GraphMemory of(ModelLibrary library) {
                String name = library.metadata().name();
                GraphFile graph = GraphFile.read(
                        library.artifacts().of(ArtifactKind.GRAPH).get(0).content(), name);
                Set<String> inputs = library.metadata().inputs().stream()
                        .map(TensorInfo::name)
                        .collect(Collectors.toSet());
                List<Storage> taken = graph.storages().stream()
                        .filter(storage -> !inputs.contains(storage.inputBinding()))
                        .toList();
                List<Node> functions =
                        graph.nodes().stream().filter(node -> !node.isGiven()).toList();
                long arguments =
                        functions.stream().mapToLong(GraphMemory::arguments).sum();
                long most = functions.stream()
                        .mapToLong(GraphMemory::arguments)
                        .max()
                        .orElse(0);
                long extents = graph.entries().stream()
                        .mapToLong(entry -> entry.shape().size())
                        .sum();
                return new GraphMemory(
                        taken.stream().mapToLong(Storage::bytes).sum(),
                        taken.size(),
                        List.of(
                                (long) graph.nodes().size(),
                                (long) graph.entries().size(),
                                arguments,
                                most,
                                extents,
                                (long) graph.given().size(),
                                (long) graph.heads().size()));
            }

            private static long arguments(Node node) {
                return node.inputs().size() + (long) node.outputs();
            }

            /** The most that one operator allocates. */
            static long operatorBytes(ModelMetadata model) {
                return model.operators().stream()
                        .mapToLong(OperatorInfo::workspaceBytes)
                        .max()
                        .orElse(0);
            }

            /** All bytes as a C expression, with the size of the executor. */
            String expression() {
                return bytes + "u + TVM_GRAPH_EXECUTOR_BYTES("
                        + counts.stream().map(count -> count + "u").collect(Collectors.joining(", ")) + ")";
            }

            /** Blocks of several executors, and of the runtime's table of functions. */
            static long blocks(List<GraphMemory> graphs) {
                return graphs.isEmpty()
                        ? 0
                        : 1
                                + graphs.stream()
                                        .mapToLong(graph -> BLOCKS_OF_ITS_OWN + graph.blocks())
                                        .sum();
            }
        }
    }
}
