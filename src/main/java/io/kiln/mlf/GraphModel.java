// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import io.kiln.artifact.GraphFile;
import io.kiln.artifact.GraphFile.Entry;
import io.kiln.artifact.GraphFile.Node;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A model for the graph executor.
 *
 * @param parameters names of what its file of parameters has
 */
record GraphModel(GraphFile graph, Set<String> parameters) {
    GraphModel {
        parameters = Set.copyOf(parameters);
    }

    /**
     * Reads both files.
     *
     * @throws KilnException if one of them cannot be used, or they do not belong together
     */
    static GraphModel of(Bytes graph, String graphFile, Optional<Bytes> params, String paramsFile) {
        GraphFile read = GraphFile.read(graph, graphFile);
        Set<String> names = new HashSet<>();
        Map<String, Node> given =
                read.given().stream().collect(Collectors.toMap(Node::name, node -> node, (a, b) -> a));
        for (NamedTensor tensor :
                params.map(content -> ParameterFile.read(content, paramsFile)).orElse(List.of())) {
            Node node = given.get(tensor.name());
            if (node == null
                    || read.entries().get(node.first()).bytes() != tensor.data().size()) {
                throw Failure.ARCHIVE.exception(
                        "parameter `" + tensor.name() + "` is none of the graph's, or has another size",
                        paramsFile,
                        "the parameters of " + graphFile);
            }
            names.add(tensor.name());
        }
        return new GraphModel(read, names);
    }

    /** The inputs: nodes of the graph that are neither operators nor parameters. */
    List<TensorInfo> inputs() {
        List<TensorInfo> inputs = new ArrayList<>();
        for (Node node : graph.given()) {
            if (!parameters.contains(node.name())) {
                inputs.add(tensor(node.name(), graph.entries().get(node.first())));
            }
        }
        return inputs;
    }

    /**
     * The outputs in the graph's order.
     *
     * @param stated their names in the metadata, which are sorted; of use if there is one
     */
    List<TensorInfo> outputs(List<String> stated) {
        List<TensorInfo> outputs = new ArrayList<>();
        for (int head : graph.heads()) {
            String name = stated.size() == 1 && graph.heads().size() == 1 ? stated.get(0) : "output" + outputs.size();
            outputs.add(tensor(name, graph.entries().get(head)));
        }
        return outputs;
    }

    private static TensorInfo tensor(String name, Entry entry) {
        DType dtype = entry.type()
                .dtype()
                .orElseThrow(() -> Failure.ARCHIVE.exception(
                        "tensor `" + name + "` has elements of " + entry.type().bits() + " bits", "the graph"));
        return new TensorInfo(name, RelaySignature.sanitized(name), dtype, entry.shape(), 0, 0);
    }
}
