// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.graph;

import io.kiln.base.DType;
import java.util.ArrayList;
import java.util.List;

/**
 * A model as microTVM's graph executor sees it (src/relay/backend/graph_executor_codegen.cc): inputs and operators in the order of execution,
 * each with its results. Results are numbered through all nodes; such a number is an entry.
 *
 * @param nodes in order; each reads results of earlier ones
 * @param heads entries of the outputs, in the model's order
 */
public record StorageGraph(List<Node> nodes, List<Integer> heads) {
    /** Function of a node that only gives its input another shape: it shares its input's memory, and nothing runs. */
    public static final String NOP = "__nop";

    public StorageGraph {
        nodes = List.copyOf(nodes);
        heads = List.copyOf(heads);
    }

    /**
     * An input, a parameter or an operator.
     *
     * @param name unique in the graph
     * @param function name in the system library, {@link #NOP}, or empty for inputs and parameters
     * @param inputs entries that it reads
     * @param outputs its results
     */
    public record Node(String name, String function, List<Integer> inputs, List<Tensor> outputs) {
        public Node {
            inputs = List.copyOf(inputs);
            outputs = List.copyOf(outputs);
        }

        /** Whether its result is given, not computed. */
        public boolean isGiven() {
            return function.isEmpty();
        }

        /** Whether nothing runs, because its result has the bytes of its input. */
        public boolean isView() {
            return function.equals(NOP);
        }
    }

    /**
     * A result of a node.
     *
     * @param dtype element type
     * @param shape dimensions
     */
    public record Tensor(DType dtype, List<Integer> shape) {
        public Tensor {
            shape = List.copyOf(shape);
        }

        /** Size in bytes. */
        public long bytes() {
            return shape.stream().mapToLong(Integer::longValue).reduce(dtype.bytes(), Math::multiplyExact);
        }
    }

    /** The results of all nodes, by entry. */
    public List<Tensor> entries() {
        return nodes.stream().flatMap(node -> node.outputs().stream()).toList();
    }

    /** The first entry of each node, and the number of entries. */
    public List<Integer> rows() {
        List<Integer> rows = new ArrayList<>(List.of(0));
        nodes.forEach(
                node -> rows.add(rows.get(rows.size() - 1) + node.outputs().size()));
        return rows;
    }
}
