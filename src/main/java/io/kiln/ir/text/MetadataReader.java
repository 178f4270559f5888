// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile.NdArrayFormat;
import io.kiln.base.Failure;
import io.kiln.base.Problem;
import io.kiln.ir.Constant;
import io.kiln.ir.text.RelaySyntax.Metadata;
import io.kiln.ir.text.RelaySyntax.Opaque;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Parses metadata sections written by {@link MetadataSection} and TVM: a JSON graph whose root maps kinds, such as {@code relay.Constant}, to
 * arrays of nodes.
 */
final class MetadataReader {
    private static final int MAX_DEPTH = 16;

    /** A section can refer to one node often, so that a short one has any number of values. */
    private static final int MAX_VALUES = 1 << 20;

    private final String file;
    private final int line;
    private final Consumer<Problem> problems;
    private final Map<Integer, Constant> arrays = new HashMap<>();
    private long bytesLeft = TensorType.MAX_BYTES;
    private int valuesLeft = MAX_VALUES;

    /** A reader of a section whose JSON begins at a line of a file. */
    MetadataReader(String file, int line, Consumer<Problem> problems) {
        this.file = file;
        this.line = line;
        this.problems = problems;
    }

    /** What the section holds; errors are reported, and the result is empty then. */
    Metadata read(String json) {
        try {
            JsonNode tree = tree(json);
            JsonNode nodes = tree.path("nodes");
            JsonNode root = node(nodes, tree.path("root"));
            Map<String, List<Object>> boxes = new HashMap<>();
            for (String kind : MetadataSection.BOXES) {
                List<Object> values = new ArrayList<>();
                items(nodes, root, kind).forEach(node -> values.add(value(nodes, node, 0)));
                boxes.put(kind, values);
            }
            return new Metadata(constants(tree, items(nodes, root, MetadataSection.CONSTANT)), boxes);
        } catch (JsonProcessingException e) {
            Place place = e.getLocation() == null
                    ? new Place(line, 1)
                    : new Place(
                            line + e.getLocation().getLineNr() - 1,
                            e.getLocation().getColumnNr());
            problems.accept(Failure.MODEL.problem(
                    "the metadata section is not JSON: " + e.getOriginalMessage(),
                    place.in(file),
                    "the section as it was printed",
                    "Print the model again"));
        } catch (IllegalArgumentException e) {
            problems.accept(Failure.MODEL.problem(
                    "the metadata section does not hold what it says: " + e.getMessage(),
                    new Place(line, 1).in(file),
                    "the section as it was printed",
                    "Print the model again"));
        }
        return Metadata.NONE;
    }

    /** What an attribute's node holds: a number, a truth value, a text, or a list or dictionary of such. */
    private Object value(JsonNode nodes, JsonNode node, int depth) {
        valuesLeft--;
        require(depth < MAX_DEPTH && valuesLeft >= 0, "its attributes are nested too deep, or too many");
        String text = node.path("repr_str").asText();
        return switch (node.path("type_key").asText()) {
            case "runtime.BoxInt" -> Long.valueOf(text);
            case "runtime.BoxFloat" -> Double.valueOf(text);
            case "runtime.BoxBool" -> truth(text);
            case "runtime.String" -> text;
            case "IntImm" -> Long.valueOf(node.path("attrs").path("value").asText());
            case "FloatImm" -> Double.valueOf(node.path("attrs").path("value").asText());
            case "Array" -> values(nodes, node, depth);
            case MetadataSection.DICTIONARY -> {
                List<Object> values = values(nodes, node, depth);
                Map<String, Object> dictionary = new LinkedHashMap<>();
                for (int i = 0; i < values.size(); i++) {
                    dictionary.put(node.path("keys").path(i).asText(), values.get(i));
                }
                yield dictionary;
            }
            default -> new Opaque(new Place(line, 1));
        };
    }

    private List<Object> values(JsonNode nodes, JsonNode node, int depth) {
        List<Object> values = new ArrayList<>();
        for (JsonNode item : node.path("data")) {
            values.add(value(nodes, node(nodes, item), depth + 1));
        }
        return values;
    }

    private static boolean truth(String text) {
        require(text.equals("true") || text.equals("false"), "a truth value is `" + text + "`");
        return text.equals("true");
    }

    private static JsonNode tree(String json) throws JsonProcessingException {
        StreamReadConstraints limits = StreamReadConstraints.builder()
                .maxNestingDepth(MAX_DEPTH)
                .maxStringLength(json.length())
                .build();
        return JsonMapper.builder(
                        JsonFactory.builder().streamReadConstraints(limits).build())
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .build()
                .readTree(json);
    }

    /** The nodes of a kind, in order; none if the root, a map, has no such key. */
    private static List<JsonNode> items(JsonNode nodes, JsonNode root, String kind) {
        List<JsonNode> items = new ArrayList<>();
        for (int i = 0; i < root.path("keys").size(); i++) {
            if (root.path("keys").path(i).asText().equals(kind)) {
                for (JsonNode item : node(nodes, root.path("data").path(i)).path("data")) {
                    JsonNode node = node(nodes, item);
                    require(
                            node.path("type_key").asText().equals(kind),
                            kind + " " + items.size() + " is of another kind");
                    items.add(node);
                }
            }
        }
        return items;
    }

    private List<Constant> constants(JsonNode tree, List<JsonNode> nodes) {
        List<Constant> constants = new ArrayList<>();
        nodes.forEach(node -> constants.add(
                constant(tree.path("b64ndarrays"), node.path("attrs").path("data"))));
        return constants;
    }

    private Constant constant(JsonNode encoded, JsonNode reference) {
        int index = index(reference, encoded.size(), "array");
        return arrays.computeIfAbsent(index, i -> decode(i, encoded.path(i).asText()));
    }

    private Constant decode(int index, String base64) {
        bytesLeft -= base64.length() / 4 * 3L;
        require(bytesLeft >= 0, "the arrays have more than " + TensorType.MAX_BYTES + " bytes");
        ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode(base64)).order(ByteOrder.LITTLE_ENDIAN);
        NamedTensor tensor = NdArrayFormat.decode("b64ndarrays[" + index + "]", bytes);
        require(!bytes.hasRemaining(), "b64ndarrays[" + index + "] is longer than it says");
        return new Constant("", new TensorType(new Shape(tensor.shape()), tensor.dtype()), tensor.data());
    }

    private static JsonNode node(JsonNode nodes, JsonNode reference) {
        return nodes.path(index(reference, nodes.size(), "node"));
    }

    /** An index as a number, or as text, as in TVM's attributes. */
    private static int index(JsonNode reference, int size, String what) {
        int index = reference.isMissingNode() ? -1 : reference.asInt(-1);
        require(index >= 0 && index < size, "it refers to a missing " + what + (index < 0 ? "" : " " + index));
        return index;
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new IllegalArgumentException(what);
        }
    }

    /** The JSON after {@code #[metadata]}: a graph of nodes whose root maps {@code relay.Constant} to the constants in order. */
    static final class MetadataSection {
        /** The kind of node, and the key of the array. */
        static final String CONSTANT = "relay.Constant";

        /** The attributes of an operator that TVM does not know. */
        static final String DICTIONARY = "Map";

        /** Kinds of nodes that hold one number or truth value, or a dictionary of them. */
        static final Set<String> BOXES = Set.of("runtime.BoxInt", "runtime.BoxFloat", "runtime.BoxBool", DICTIONARY);

        /** Number of nodes before the first constant: null, the map, the array, an unspecified device, an empty string. */
        private static final int FIRST_CONSTANT = 5;

        private MetadataSection() {}

        static String of(List<Constant> constants) {
            String indices = IntStream.range(0, constants.size())
                    .mapToObj(i -> String.valueOf(i + FIRST_CONSTANT))
                    .collect(Collectors.joining(", "));
            String nodes = IntStream.range(0, constants.size())
                    .mapToObj(i ->
                            "    {\"type_key\": \"relay.Constant\", \"attrs\": {\"_checked_type_\": \"0\", \"data\": \""
                                    + i + "\", \"span\": \"0\", \"virtual_device_\": \"3\"}}")
                    .collect(Collectors.joining(",\n"));
            String arrays = constants.stream()
                    .map(constant -> "    \"" + base64(constant) + "\"")
                    .collect(Collectors.joining(",\n"));
            return String.format(Locale.ROOT, """
                {
                  "root": 1,
                  "nodes": [
                    {"type_key": ""},
                    {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
                    {"type_key": "Array", "data": [%s]},
                    {"type_key": "VirtualDevice", "attrs": {"device_type_int": "-1", "memory_scope": "4", "target": "0", "virtual_device_id": "-1"}},
                    {"type_key": "runtime.String"},
                %s
                  ],
                  "b64ndarrays": [
                %s
                  ],
                  "attrs": {"tvm_version": "0.16.0"}
                }
                """, indices, nodes, arrays);
        }

        private static String base64(Constant constant) {
            NamedTensor tensor = new NamedTensor(
                    constant.name(),
                    constant.type().dtype(),
                    constant.type().shape().dims(),
                    constant.data());
            return Base64.getEncoder()
                    .encodeToString(NdArrayFormat.encode(tensor).toArray());
        }
    }
}
