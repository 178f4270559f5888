// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.image;

import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.GraphFile;
import io.kiln.artifact.GraphFile.Node;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Storage;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.OperatorInfo;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The memory that the graph executor of the C runtime allocates for a model whose inputs are passed in.
 *
 * @param bytes of its tensors
 * @param blocks of these
 * @param counts arguments of {@code TVM_GRAPH_EXECUTOR_BYTES}
 */
record GraphMemory(long bytes, long blocks, List<Long> counts) {
    /** The header that defines the size of an executor. */
    static final String INCLUDE = "#include <tvm/runtime/crt/internal/graph_executor/graph_executor.h>\n";

    /** Blocks that an executor allocates for itself and for its nodes. */
    private static final int BLOCKS_OF_ITS_OWN = 2;

    GraphMemory {
        counts = List.copyOf(counts);
    }

    static GraphMemory of(ModelLibrary library) {
        String name = library.metadata().name();
        GraphFile graph =
                GraphFile.read(library.artifacts().of(ArtifactKind.GRAPH).get(0).content(), name);
        Set<String> inputs =
                library.metadata().inputs().stream().map(TensorInfo::name).collect(Collectors.toSet());
        List<Storage> taken = graph.storages().stream()
                .filter(storage -> !inputs.contains(storage.inputBinding()))
                .toList();
        List<Node> functions =
                graph.nodes().stream().filter(node -> !node.isGiven()).toList();
        long arguments = functions.stream().mapToLong(GraphMemory::arguments).sum();
        long most = functions.stream().mapToLong(GraphMemory::arguments).max().orElse(0);
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
