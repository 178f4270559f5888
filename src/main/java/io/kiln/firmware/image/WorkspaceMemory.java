// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.image;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.GraphFile;
import io.kiln.artifact.GraphFile.Node;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Storage;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Bytes;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Memory for models that allocate at run time, such as TVM's models built without a memory planner: {@code
 * TVMPlatformMemoryAllocate} and {@code TVMPlatformMemoryFree} on the stack allocator, with as much memory as the
 * metadata states for a run.
 */
public final class WorkspaceMemory {
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
                ? BLOCKS_FOR_EACH_OPERATOR * (1L + model.metadata().operators().size())
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
            Set<String> inputs =
                    library.metadata().inputs().stream().map(TensorInfo::name).collect(Collectors.toSet());
            List<Storage> taken = graph.storages().stream()
                    .filter(storage -> !inputs.contains(storage.inputBinding()))
                    .toList();
            List<Node> functions =
                    graph.nodes().stream().filter(node -> !node.isGiven()).toList();
            long arguments =
                    functions.stream().mapToLong(GraphMemory::arguments).sum();
            long most =
                    functions.stream().mapToLong(GraphMemory::arguments).max().orElse(0);
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
