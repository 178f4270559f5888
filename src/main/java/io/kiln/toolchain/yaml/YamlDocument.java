// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.yaml;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.Error;
import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.SpecificationVersion;
import com.networknt.schema.path.NodePath;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.NearMiss;
import io.kiln.base.Problems;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.composer.Composer;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;
import org.yaml.snakeyaml.parser.ParserImpl;
import org.yaml.snakeyaml.reader.StreamReader;
import org.yaml.snakeyaml.resolver.Resolver;

/** A YAML file as JSON, with the line and column of every node. Refuses files that expand excessively. */
public final class YamlDocument {
    /** Most bytes of a file, far more than any descriptor needs. */
    private static final int MAX_BYTES = 64 * 1024;

    private static final int MAX_NODES = 5_000;
    private static final int MAX_DEPTH = 16;

    /** Longer numbers are texts: none is a number of 64 bits. */
    private static final int MAX_DIGITS = 18;

    private final String name;
    private final ObjectNode root;
    private final Map<String, Place> places;

    /** Where a node begins, counted from 1. */
    private record Place(int line, int column) {
        static Place of(Node node) {
            return new Place(
                    node.getStartMark().getLine() + 1, node.getStartMark().getColumn() + 1);
        }
    }

    private YamlDocument(String name, ObjectNode root, Map<String, Place> places) {
        this.name = name;
        this.root = root;
        this.places = places;
    }

    /**
     * The content of a file that may hold a descriptor: no more of it than shows that it is too large.
     *
     * @throws KilnException if it cannot be read, or is no regular file: reading from a pipe would never end
     */
    public static Bytes content(Path file) {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw refused(file.toString(), "this is not a regular file", "a YAML file");
        }
        try (InputStream in = Files.newInputStream(file)) {
            return Bytes.wrap(in.readNBytes(MAX_BYTES + 1));
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }

    /**
     * Parses a file whose top level is a mapping.
     *
     * @param name path for messages
     * @param content UTF-8
     * @throws KilnException with the line if it is not YAML, or is too large or nested too deeply
     */
    public static YamlDocument parse(String name, Bytes content) {
        if (content.size() > MAX_BYTES) {
            throw refused(name, "the file is too large", "at most " + MAX_BYTES + " bytes");
        }
        LoaderOptions options = new LoaderOptions();
        options.setAllowDuplicateKeys(false);
        options.setMaxAliasesForCollections(10);
        options.setNestingDepthLimit(MAX_DEPTH);
        options.setCodePointLimit(MAX_BYTES);
        options.setAllowRecursiveKeys(false);
        try {
            Node node = compose(content.text(), options);
            if (!(node instanceof MappingNode)) {
                throw refused(name, "this is not a mapping of keys to values", "lines such as \"id: my-board\"");
            }
            Converter converter = new Converter(name);
            JsonNode root = converter.convert(node, "", 0);
            return new YamlDocument(name, (ObjectNode) root, converter.places);
        } catch (MarkedYAMLException e) {
            int line = e.getProblemMark() == null ? 1 : e.getProblemMark().getLine() + 1;
            throw new KilnException(Failure.YAML.problem("this is not YAML: " + e.getProblem(), name + ":" + line), e);
        } catch (YAMLException | IllegalArgumentException e) {
            // The YAML library has no own message for escapes such as "\\UFFFFFFFF".
            String text = String.valueOf(e.getMessage()).lines().findFirst().orElse("unreadable");
            throw new KilnException(Failure.YAML.problem("this is not YAML: " + text, name), e);
        }
    }

    /**
     * Parses a text to nodes alone: a {@code Yaml} would also prepare to construct and to print objects, which takes much longer
     * than a descriptor.
     */
    private static Node compose(String text, LoaderOptions options) {
        return new Composer(new ParserImpl(new StreamReader(text), options), new CoreSchema(), options).getSingleNode();
    }

    /** The mapping at the top of the file. */
    public ObjectNode root() {
        return root;
    }

    /** Path for messages. */
    public String name() {
        return name;
    }

    /** {@code file:line} of the node at a JSON pointer, or of its nearest existing ancestor. */
    public String where(String pointer) {
        return name + ":" + place(pointer).line();
    }

    /** {@code file:line:column}, as {@link #where}. */
    public String exactly(String pointer) {
        Place place = place(pointer);
        return name + ":" + place.line() + ":" + place.column();
    }

    private Place place(String pointer) {
        String at = pointer;
        while (!places.containsKey(at) && !at.isEmpty()) {
            at = at.substring(0, at.lastIndexOf('/'));
        }
        return places.getOrDefault(at, new Place(1, 1));
    }

    private static KilnException refused(String where, String what, String expected) {
        return Failure.YAML.exception(what, where, expected);
    }

    /**
     * Types of plain scalars by the core schema of YAML 1.2.2, chapter 10.3.2: {@code no}, {@code on} and {@code 1_000} are words. The
     * library's own rules are those of YAML 1.1.
     */
    private static final class CoreSchema extends Resolver {
        @Override
        protected void addImplicitResolvers() {
            addImplicitResolver(Tag.NULL, Pattern.compile("null|Null|NULL|~|"), "nN~\0");
            addImplicitResolver(Tag.BOOL, Pattern.compile("true|True|TRUE|false|False|FALSE"), "tTfF");
            addImplicitResolver(Tag.INT, Pattern.compile("[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"), "-+0123456789");
        }
    }

    private static final class Converter {
        private final String name;
        private final Map<String, Place> places = new HashMap<>();
        private int nodes;

        Converter(String name) {
            this.name = name;
        }

        JsonNode convert(Node node, String pointer, int depth) {
            int line = node.getStartMark().getLine() + 1;
            nodes++;
            if (nodes > MAX_NODES || depth > MAX_DEPTH) {
                throw refused(
                        name + ":" + line,
                        "the file expands to too much",
                        "at most " + MAX_NODES + " values nested " + MAX_DEPTH + " deep");
            }
            places.putIfAbsent(pointer, Place.of(node));
            if (node instanceof MappingNode mapping) {
                return mapping(mapping, pointer, depth);
            }
            if (node instanceof SequenceNode sequence) {
                ArrayNode array = JsonNodeFactory.instance.arrayNode();
                int index = 0;
                for (Node item : sequence.getValue()) {
                    array.add(convert(item, pointer + "/" + index++, depth + 1));
                }
                return array;
            }
            return scalar((ScalarNode) node);
        }

        private ObjectNode mapping(MappingNode mapping, String pointer, int depth) {
            ObjectNode object = JsonNodeFactory.instance.objectNode();
            for (NodeTuple tuple : mapping.getValue()) {
                int line = tuple.getKeyNode().getStartMark().getLine() + 1;
                if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
                    throw refused(name + ":" + line, "a key is not a plain word", "keys such as \"id\"");
                }
                String child = pointer + "/" + key.getValue().replace("~", "~0").replace("/", "~1");
                if (object.has(key.getValue())) {
                    throw refused(name + ":" + line, "the key " + key.getValue() + " exists twice", "each key once");
                }
                places.put(child, Place.of(tuple.getKeyNode()));
                object.set(key.getValue(), convert(tuple.getValueNode(), child, depth + 1));
            }
            return object;
        }

        private static JsonNode scalar(ScalarNode node) {
            JsonNodeFactory json = JsonNodeFactory.instance;
            String text = node.getValue();
            if (node.getTag().equals(Tag.NULL)) {
                return json.nullNode();
            }
            if (node.getTag().equals(Tag.BOOL)) {
                return json.booleanNode(text.toLowerCase(Locale.ROOT).equals("true"));
            }
            if (!node.getTag().equals(Tag.INT) || text.length() > MAX_DIGITS) {
                return json.textNode(text);
            }
            return json.numberNode(
                    switch (text.length() > 1 ? text.charAt(1) : ' ') {
                        case 'x' -> new BigInteger(text.substring(2), 16);
                        case 'o' -> new BigInteger(text.substring(2), 8);
                        default -> new BigInteger(text);
                    });
        }
    }

    /** A JSON Schema of {@code toolchains/schemas} for descriptors. */
    public static final class YamlSchema {
        /** The configuration of the validator, which has messages in 27 languages, and takes the computer's unless it is told. */
        private static final SchemaRegistryConfig ENGLISH =
                SchemaRegistryConfig.builder().locale(Locale.ROOT).build();

        /** What refuses keys. */
        private static final List<String> KEYS = List.of("additionalProperties", "propertyNames");

        private final String file;
        private final Schema schema;

        /**
         * Reads a schema.
         *
         * @param file its name, such as {@code board.schema.json}
         */
        public YamlSchema(String file) {
            this.file = file;
            try (InputStream in = YamlSchema.class.getResourceAsStream("/toolchains/schemas/" + file)) {
                schema = SchemaRegistry.withDefaultDialect(
                                SpecificationVersion.DRAFT_2020_12, registry -> registry.schemaRegistryConfig(ENGLISH))
                        .getSchema(in, InputFormat.JSON);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Adds every violation with its line. */
        public void check(YamlDocument document, Problems problems) {
            check(document, document::where, problems);
        }

        /** Adds every violation with its line and column. */
        public void checkExactly(YamlDocument document, Problems problems) {
            check(document, document::exactly, problems);
        }

        private void check(YamlDocument document, UnaryOperator<String> where, Problems problems) {
            for (Error error : schema.validate(document.root())) {
                String pointer = pointer(error.getInstanceLocation());
                List<String> keys = keys(error);
                if (!keys.isEmpty()) {
                    String question = NearMiss.didYouMean(error.getProperty(), keys);
                    problems.add(
                            "unknown key \"" + error.getProperty() + "\"",
                            where.apply(pointer + "/" + error.getProperty()),
                            "",
                            (question.isEmpty() ? "Remove it or see " : question + " See ") + file
                                    + " for the allowed keys");
                } else {
                    String label = pointer.isEmpty() ? "" : pointer.substring(1).replace('/', '.') + ": ";
                    problems.add(label + error.getMessage(), where.apply(pointer));
                }
            }
        }

        /** All keys that the schema has where it refuses another one; none if it refuses something else, or keys by their spelling. */
        private List<String> keys(Error error) {
            List<String> keys = new ArrayList<>();
            if (error.getProperty() != null && KEYS.contains(error.getKeyword())) {
                String parent = pointer(error.getSchemaLocation().getFragment().getParent());
                JsonNode at = schema.getSchemaNode().at(parent);
                if (error.getKeyword().equals(KEYS.get(0))) {
                    at.path("properties").fieldNames().forEachRemaining(keys::add);
                } else {
                    at.path(KEYS.get(1)).path("enum").forEach(name -> keys.add(name.textValue()));
                }
            }
            return keys;
        }

        private static String pointer(NodePath path) {
            StringBuilder pointer = new StringBuilder();
            for (int i = 0; i < path.getNameCount(); i++) {
                pointer.append('/').append(path.getElement(i));
            }
            return pointer.toString();
        }
    }
}
