// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.graph;

import io.kiln.executor.graph.StorageGraph.Node;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Prints a graph as the JSON that TVM's graph executors read: {@code nodes, arg_nodes, heads, attrs, node_row_ptr}, one node a line. The
 * attributes of an operator are texts, whatever they say; those of entries are lists with the type of the list before.
 */
final class GraphText {
    private static final int CPU = 1;

    private final StorageGraph graph;
    private final List<Integer> rows;

    private GraphText(StorageGraph graph) {
        this.graph = graph;
        this.rows = graph.rows();
    }

    static String print(StorageGraph graph, StoragePlan plan) {
        GraphText text = new GraphText(graph);
        List<StorageGraph.Tensor> entries = graph.entries();
        List<String> attributes = List.of(
                typed(
                        "dltype",
                        "list_str",
                        entries,
                        tensor -> string(tensor.dtype().text())),
                typed("device_index", "list_int", entries, tensor -> String.valueOf(CPU)),
                typed("storage_id", "list_int", plan.storageIds(), String::valueOf),
                typed("shape", "list_shape", entries, tensor -> list(tensor.shape(), String::valueOf)));
        return "{\n  \"nodes\": [\n    "
                + graph.nodes().stream().map(text::node).collect(Collectors.joining(",\n    "))
                + "\n  ],\n  \"arg_nodes\": "
                + list(text.given(), String::valueOf)
                + ",\n  \"heads\": "
                + list(graph.heads(), text::reference)
                + ",\n  \"attrs\": {\n    "
                + String.join(",\n    ", attributes)
                + "\n  },\n  \"node_row_ptr\": "
                + list(text.rows, String::valueOf)
                + "\n}\n";
    }

    private String node(Node node) {
        String name = string(node.name());
        if (node.isGiven()) {
            return "{\"op\": \"null\", \"name\": " + name + ", \"inputs\": []}";
        }
        return "{\"op\": \"tvm_op\", \"name\": " + name
                + ", \"attrs\": {\"func_name\": " + string(node.function())
                + ", \"num_inputs\": \"" + node.inputs().size()
                + "\", \"num_outputs\": \"" + node.outputs().size()
                + "\", \"flatten_data\": \"0\"}, \"inputs\": " + list(node.inputs(), this::reference) + "}";
    }

    /** The JSON of an entry: node, result of the node, and a version, which is always 0. */
    private String reference(int entry) {
        int node = 0;
        while (rows.get(node + 1) <= entry) {
            node++;
        }
        return "[" + node + ", " + (entry - rows.get(node)) + ", 0]";
    }

    private List<Integer> given() {
        return Stream.iterate(0, i -> i < graph.nodes().size(), i -> i + 1)
                .filter(i -> graph.nodes().get(i).isGiven())
                .toList();
    }

    private static <T> String typed(String key, String type, List<T> values, Function<T, String> print) {
        return string(key) + ": [" + string(type) + ", " + list(values, print) + "]";
    }

    private static <T> String list(List<T> values, Function<T, String> print) {
        return values.stream().map(print).collect(Collectors.joining(", ", "[", "]"));
    }

    private static String string(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"', '\\' -> out.append('\\').append(c);
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> out.append(c < ' ' ? String.format(Locale.ROOT, "\\u%04x", (int) c) : c);
            }
        }
        return out.append('"').toString();
    }
}
