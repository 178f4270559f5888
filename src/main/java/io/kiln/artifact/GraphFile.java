// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The graph of a model as microTVM's graph executor reads it: nodes in the order of execution, what each of them reads, and the memory of what
 * they write. Reading checks it against the rules of the C runtime's executor (tvm/runtime/crt/graph_executor.h).
 *
 * @param nodes inputs, parameters and operators; each reads outputs of earlier ones
 * @param entries the outputs of all nodes, node by node
 * @param heads entries that are outputs of the model
 */
public record GraphFile(List<Node> nodes, List<Entry> entries, List<Integer> heads) {
    /** Function of a node that only gives its input another shape, in the same memory. */
    public static final String NOP = "__nop";

    private static final long MOST_BYTES = 1L << 31;

    /** {@code kDLCPU}. */
    private static final int CPU = 1;

    private static final String COPY = "__copy";

    public GraphFile {
        nodes = List.copyOf(nodes);
        entries = List.copyOf(entries);
        heads = List.copyOf(heads);
    }

    /**
     * A node.
     *
     * @param name unique in graphs that Kiln or TVM made
     * @param function name in the system library, {@link #NOP}, or empty for inputs and parameters
     * @param inputs entries that it reads
     * @param first its first entry
     * @param outputs how many it has
     */
    public record Node(String name, String function, List<Integer> inputs, int first, int outputs) {
        public Node {
            inputs = List.copyOf(inputs);
        }

        /** Whether it is an input or a parameter. */
        public boolean isGiven() {
            return function.isEmpty();
        }

        /** Whether a function has to be called. */
        public boolean isOperator() {
            return !isGiven() && !function.equals(NOP);
        }
    }

    /**
     * An output of a node.
     *
     * @param type element type
     * @param shape dimensions
     * @param storage id of its memory; entries with one id share it
     */
    public record Entry(DlpackType type, List<Integer> shape, int storage) {
        public Entry {
            shape = List.copyOf(shape);
        }

        /** Size in bytes. */
        public long bytes() {
            return shape.stream().mapToLong(Integer::longValue).reduce((type.bits() + 7L) / 8, (a, b) -> a * b);
        }
    }

    /**
     * Reads a graph.
     *
     * @param where its name in messages
     * @throws KilnException if it is not such a graph, with the first reason
     */
    public static GraphFile read(Bytes content, String where) {
        try {
            return new Reader(new ObjectMapper().readTree(content.text())).read();
        } catch (JsonProcessingException e) {
            throw failure("this is not JSON: " + e.getOriginalMessage(), where, e);
        } catch (IllegalArgumentException e) {
            throw failure(e.getMessage(), where, e);
        }
    }

    private static KilnException failure(String what, String where, Exception cause) {
        return new KilnException(
                Failure.ARCHIVE.problem(what, where, "a graph as TVM's graph executor reads it"), cause);
    }

    /** The nodes that a program gives values to, inputs and parameters, in the graph's order. */
    public List<Node> given() {
        return nodes.stream().filter(Node::isGiven).toList();
    }

    /** Names of the functions that it calls, each once, in order. */
    public List<String> functions() {
        return nodes.stream()
                .filter(Node::isOperator)
                .map(Node::function)
                .distinct()
                .toList();
    }

    /** The blocks of memory: one for each storage id that is used, as large as the largest of its entries. */
    public List<ModelMetadata.Storage> storages() {
        List<ModelMetadata.Storage> storages = new ArrayList<>();
        for (int id : entries.stream().map(Entry::storage).distinct().toList()) {
            long bytes = entries.stream()
                    .filter(entry -> entry.storage() == id)
                    .mapToLong(Entry::bytes)
                    .max()
                    .orElse(0);
            String binding = given().stream()
                    .filter(node -> entries.get(node.first()).storage() == id)
                    .map(Node::name)
                    .findFirst()
                    .orElse("");
            storages.add(new ModelMetadata.Storage(id, bytes, binding));
        }
        return List.copyOf(storages);
    }

    /** Reads the JSON; whatever is wrong is an {@link IllegalArgumentException} with a text. */
    private static final class Reader {
        private final JsonNode root;
        private final List<Node> nodes = new ArrayList<>();
        private final List<Entry> entries = new ArrayList<>();
        private int count;

        Reader(JsonNode root) {
            this.root = root;
        }

        GraphFile read() {
            for (JsonNode node : list(root, "nodes")) {
                nodes.add(node(node));
                count += nodes.get(nodes.size() - 1).outputs();
            }
            readEntries(root.path("attrs"));
            List<Integer> heads = new ArrayList<>();
            list(root, "heads").forEach(head -> heads.add(reference(head)));
            checkRest();
            nodes.stream().filter(node -> node.function().equals(NOP)).forEach(this::checkView);
            return new GraphFile(nodes, entries, heads);
        }

        private Node node(JsonNode json) {
            String name = text(json, "name");
            List<Integer> inputs = new ArrayList<>();
            list(json, "inputs").forEach(input -> inputs.add(reference(input)));
            String op = text(json, "op");
            if (op.equals("null")) {
                require(inputs.isEmpty(), "input `" + name + "` reads something");
                return new Node(name, "", inputs, count, 1);
            }
            require(op.equals("tvm_op"), "node `" + name + "` is neither null nor tvm_op");
            JsonNode attributes = json.has("attrs") ? json.path("attrs") : json.path("attr");
            String function = text(attributes, "func_name");
            require(!function.isEmpty() && !function.equals(COPY), "node `" + name + "` calls `" + function + "`");
            require(number(attributes, "num_inputs") == inputs.size(), "node `" + name + "` has another num_inputs");
            return new Node(name, function, inputs, count, number(attributes, "num_outputs"));
        }

        /** The entry of an output of a node that is there already. */
        private int reference(JsonNode json) {
            int node = json.path(0).asInt(-1);
            int output = json.path(1).asInt(-1);
            require(
                    json.isArray()
                            && node >= 0
                            && node < nodes.size()
                            && output >= 0
                            && output < nodes.get(node).outputs(),
                    json + " is not an output of an earlier node");
            return nodes.get(node).first() + output;
        }

        private void readEntries(JsonNode attributes) {
            JsonNode shapes = attributes.path("shape").path(1);
            JsonNode types = attributes.path("dltype").path(1);
            JsonNode ids = attributes.path("storage_id").path(1);
            require(
                    shapes.size() == count && types.size() == count && ids.size() == count,
                    "shape, dltype and storage_id have to have " + count + " items each");
            for (JsonNode device : attributes.path("device_index").path(1)) {
                require(
                        device.asInt(-1) == CPU,
                        "device_index has " + device + ": there is no device but the core, " + CPU);
            }
            for (int i = 0; i < count; i++) {
                int id = ids.get(i).asInt(-1);
                require(id >= 0 && id < count, "storage id " + ids.get(i) + " is out of its range");
                DlpackType type = DlpackType.parse(types.get(i).asText())
                        .orElseThrow(() -> new IllegalArgumentException("an element type is not known"));
                entries.add(new Entry(type, shape(shapes.get(i), type), id));
            }
        }

        private static List<Integer> shape(JsonNode json, DlpackType type) {
            List<Integer> shape = new ArrayList<>();
            BigInteger bytes = BigInteger.valueOf((type.bits() + 7L) / 8);
            require(json.isArray(), "a shape is not a list");
            for (JsonNode extent : json) {
                require(extent.canConvertToInt() && extent.asInt() >= 0, "a shape has the extent " + extent);
                shape.add(extent.asInt());
                bytes = bytes.multiply(BigInteger.valueOf(extent.asInt()));
            }
            require(bytes.compareTo(BigInteger.valueOf(MOST_BYTES)) < 0, "a shape is too large");
            return shape;
        }

        /** Checks the fields that repeat what the nodes state. */
        private void checkRest() {
            List<Integer> rows = new ArrayList<>(List.of(0));
            nodes.forEach(node -> rows.add(node.first() + node.outputs()));
            List<Integer> stated = new ArrayList<>();
            list(root, "node_row_ptr").forEach(row -> stated.add(row.asInt(-1)));
            require(stated.equals(rows), "node_row_ptr is not what the nodes say");
            Set<Integer> given = new HashSet<>();
            for (JsonNode index : list(root, "arg_nodes")) {
                int node = index.asInt(-1);
                require(
                        node >= 0 && node < nodes.size() && nodes.get(node).isGiven() && given.add(node),
                        "arg_nodes has " + index + ", which is not an input");
            }
            require(given.size() == nodes.stream().filter(Node::isGiven).count(), "arg_nodes does not have all inputs");
        }

        private void checkView(Node node) {
            require(
                    node.inputs().size() == 1 && node.outputs() == 1,
                    "node `" + node.name() + "` has more than one input and one output");
            Entry from = entries.get(node.inputs().get(0));
            Entry to = entries.get(node.first());
            require(
                    from.storage() == to.storage()
                            && from.bytes() == to.bytes()
                            && from.type().equals(to.type()),
                    "node `" + node.name() + "` has memory of its own");
        }

        private static JsonNode list(JsonNode json, String key) {
            require(json.path(key).isArray(), "`" + key + "` is missing, or no list");
            return json.path(key);
        }

        private static String text(JsonNode json, String key) {
            require(json.path(key).isTextual(), "`" + key + "` is missing, or no text");
            return json.path(key).asText();
        }

        /** A number, which TVM writes as a text. */
        private static int number(JsonNode json, String key) {
            String text = text(json, key);
            require(text.matches("[0-9]{1,3}"), "`" + key + "` is `" + text + "`");
            return Integer.parseInt(text);
        }

        private static void require(boolean holds, String otherwise) {
            if (!holds) {
                throw new IllegalArgumentException(otherwise);
            }
        }
    }
}
