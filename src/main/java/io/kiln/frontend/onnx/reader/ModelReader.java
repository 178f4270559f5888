// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.reader;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.FunctionProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.TensorShapeProto;
import ai.onnx.proto.OnnxMl.TypeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.WireFormat;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.frontend.ExternalData;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.model.OnnxModel;
import io.kiln.frontend.onnx.model.OnnxModel.OnnxFunction;
import io.kiln.frontend.onnx.model.OnnxModel.OnnxGraph;
import io.kiln.frontend.onnx.model.OnnxModel.OnnxValueInfo;
import io.kiln.frontend.onnx.model.OnnxModel.OnnxValueInfo.Dimension;
import io.kiln.frontend.onnx.model.OnnxModel.Opsets;
import io.kiln.frontend.onnx.model.OnnxNode;
import io.kiln.frontend.onnx.model.OnnxNode.OnnxAttribute;
import io.kiln.frontend.onnx.model.OnnxTensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;

/** Reads a model file: the message {@code ModelProto} of ONNX's schema. The file is untrusted. */
public final class ModelReader {
    /** Oldest and newest version of the file format that is read. */
    public static final int MIN_IR = 3;

    /** Newest version of the file format that is read. */
    public static final int MAX_IR = 14;

    private ModelReader() {}

    /**
     * Reads a model.
     *
     * @param content the file
     * @param fileName its name, for messages
     * @param external files with data of its tensors
     * @param budget counts the bytes of constants
     * @throws KilnException if it is not a valid model
     */
    public static OnnxModel read(Bytes content, String fileName, ExternalData external, ReadBudget budget) {
        if (content.size() == 0) {
            throw Failure.MODEL.exception("the file is empty", fileName, "an ONNX model", "Export the model again");
        }
        ModelProto model = parse(content, fileName);
        if (model.getIrVersion() < MIN_IR || model.getIrVersion() > MAX_IR) {
            throw Failure.MODEL.exception(
                    model.hasIrVersion()
                            ? "version " + model.getIrVersion() + " of ONNX's file format is not supported"
                            : "this is not an ONNX model",
                    fileName,
                    "version " + MIN_IR + " to " + MAX_IR + " (ir_version)",
                    model.getIrVersion() > MAX_IR
                            ? "Set model.ir_version = " + MAX_IR
                                    + " and save the model again, if it has nothing that is newer"
                            : "Export the model again");
        }
        if (!model.hasGraph()) {
            throw Failure.MODEL.exception("the model has no graph", fileName, "a graph", "Export the model again");
        }
        GraphReader graphs = new GraphReader(fileName, new OnnxTensorReader(external, budget), budget);
        return new OnnxModel(
                fileName,
                opsets(model.getOpsetImportList()),
                graphs.graph(model.getGraph()),
                functions(model, graphs, fileName));
    }

    /**
     * The files that hold tensors of a model, wherever it has tensors. What reading refuses is left out.
     *
     * @param external where they may lie
     * @throws KilnException if it is not a valid model
     */
    public static List<Path> externalFiles(Bytes content, String fileName, ExternalData external) {
        Set<Path> files = new LinkedHashSet<>();
        for (TensorProto tensor : tensors(parse(content, fileName))) {
            if (tensor.getDataLocation() == TensorProto.DataLocation.EXTERNAL) {
                external.find(OnnxTensorReader.entries(tensor), fileName).ifPresent(files::add);
            }
        }
        return List.copyOf(files);
    }

    /** Every tensor in a message, wherever the format may have one: initializers, attributes, and those of graphs in attributes and of functions. */
    private static List<TensorProto> tensors(Message message) {
        List<TensorProto> found = new ArrayList<>();
        Deque<Message> open = new ArrayDeque<>(List.of(message));
        while (!open.isEmpty()) {
            Message next = open.remove();
            if (next instanceof TensorProto tensor) {
                found.add(tensor);
            } else {
                next.getAllFields().forEach((field, value) -> {
                    if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
                        (field.isRepeated() ? (List<?>) value : List.of(value))
                                .forEach(each -> open.add((Message) each));
                    }
                });
            }
        }
        return found;
    }

    private static ModelProto parse(Bytes content, String fileName) {
        byte[] bytes = content.toArray();
        try {
            WireCheck.check(fileName, bytes, ModelProto.getDescriptor());
            return ModelProto.parseFrom(bytes);
        } catch (IOException e) {
            throw invalid(fileName, e);
        }
    }

    private static KilnException invalid(String fileName, IOException cause) {
        return new KilnException(
                Failure.MODEL.problem(
                        "this is not an ONNX model, or a damaged one",
                        fileName,
                        "a protobuf message of type onnx.ModelProto",
                        "Export the model again"),
                cause);
    }

    private static Opsets opsets(List<OperatorSetIdProto> imports) {
        Map<String, Integer> versions = new HashMap<>();
        for (OperatorSetIdProto opset : imports) {
            int version = (int) Math.max(0, Math.min(opset.getVersion(), Integer.MAX_VALUE));
            versions.merge(Opsets.domain(opset.getDomain()), version, Math::max);
        }
        return new Opsets(versions);
    }

    private static List<OnnxFunction> functions(ModelProto model, GraphReader graphs, String file) {
        List<OnnxFunction> functions = new ArrayList<>();
        for (FunctionProto function : model.getFunctionsList()) {
            functions.add(new OnnxFunction(
                    Opsets.domain(function.getDomain()),
                    GraphReader.overloaded(function.getName(), function.getOverload()),
                    function.getInputList(),
                    function.getOutputList(),
                    graphs.attributes(function.getAttributeProtoList(), "function " + function.getName()),
                    NodeOrder.sorted(graphs.nodes(function.getNodeList()), file),
                    opsets(function.getOpsetImportList())));
        }
        return functions;
    }

    /** Reads graphs, nodes, attributes and stated types. */
    private record GraphReader(String file, OnnxTensorReader tensors, ReadBudget budget) {
        /** Bytes that a boxed number of a list takes, roughly. */
        private static final int BOXED = 24;

        OnnxGraph graph(GraphProto graph) {
            if (graph.getSparseInitializerCount() > 0) {
                throw Failure.MODEL.exception(
                        "the graph has sparse initializers",
                        file,
                        "dense initializers",
                        "Store the constants as dense tensors");
            }
            Map<String, OnnxTensor> initializers = new LinkedHashMap<>();
            for (TensorProto tensor : graph.getInitializerList()) {
                String where = file + ": initializer `" + tensor.getName() + "`";
                if (initializers.put(tensor.getName(), tensors.read(tensor, where)) != null) {
                    throw Failure.MODEL.exception("it exists twice", where, "", "Export the model again");
                }
            }
            List<OnnxValueInfo> inputs = new ArrayList<>();
            for (ValueInfoProto input : graph.getInputList()) {
                if (!initializers.containsKey(input.getName())) {
                    inputs.add(value(input));
                }
            }
            Map<String, OnnxValueInfo> values = new HashMap<>();
            graph.getValueInfoList().forEach(info -> values.put(info.getName(), value(info)));
            return new OnnxGraph(
                    graph.getName(),
                    NodeOrder.sorted(nodes(graph.getNodeList()), file),
                    initializers,
                    inputs,
                    graph.getOutputList().stream().map(GraphReader::value).toList(),
                    values);
        }

        List<OnnxNode> nodes(List<NodeProto> nodes) {
            List<OnnxNode> read = new ArrayList<>();
            for (NodeProto node : nodes) {
                String where = file + ": node #" + read.size() + " " + node.getOpType() + " `" + node.getName() + "`";
                read.add(new OnnxNode(
                        read.size(),
                        node.getName(),
                        Opsets.domain(node.getDomain()),
                        overloaded(node.getOpType(), node.getOverload()),
                        node.getInputList(),
                        node.getOutputList(),
                        attributes(node.getAttributeList(), where)));
            }
            return read;
        }

        /** The name of an operator with that of its overload, by which a call finds one of several functions of a name. */
        static String overloaded(String name, String overload) {
            return overload.isEmpty() ? name : name + ":" + overload;
        }

        Map<String, OnnxAttribute> attributes(List<AttributeProto> attributes, String where) {
            Map<String, OnnxAttribute> read = new HashMap<>();
            for (AttributeProto attribute : attributes) {
                read.put(attribute.getName(), attribute(attribute, where + ", attribute " + attribute.getName()));
            }
            return read;
        }

        private OnnxAttribute attribute(AttributeProto attribute, String where) {
            if (!attribute.getRefAttrName().isEmpty()) {
                return new OnnxAttribute.Reference(attribute.getRefAttrName());
            }
            budget.spend((long) BOXED * (attribute.getIntsCount() + attribute.getFloatsCount()));
            return switch (attribute.getType()) {
                case INT -> new OnnxAttribute.Whole(attribute.getI());
                case FLOAT -> new OnnxAttribute.Real(attribute.getF());
                case STRING -> new OnnxAttribute.Text(attribute.getS().toStringUtf8());
                case TENSOR -> new OnnxAttribute.Tensor(tensors.read(attribute.getT(), where));
                case GRAPH -> new OnnxAttribute.Body(graph(attribute.getG()));
                case INTS -> new OnnxAttribute.Wholes(attribute.getIntsList());
                case FLOATS -> new OnnxAttribute.Reals(attribute.getFloatsList());
                case STRINGS ->
                    new OnnxAttribute.Texts(attribute.getStringsList().stream()
                            .map(text -> text.toStringUtf8())
                            .toList());
                default -> new OnnxAttribute.Other(attribute.getType().name().toLowerCase(Locale.ROOT));
            };
        }

        /** A tensor that may be left out is one: an image gets all of its inputs. */
        private static OnnxValueInfo value(ValueInfoProto info) {
            boolean isOptional = info.getType().hasOptionalType()
                    && info.getType().getOptionalType().getElemType().hasTensorType();
            TypeProto type = isOptional ? info.getType().getOptionalType().getElemType() : info.getType();
            if (!type.hasTensorType()) {
                String kind = type.getValueCase().name().replace("_TYPE", "").toLowerCase(Locale.ROOT);
                return new OnnxValueInfo(info.getName(), kind, ElementType.UNDEFINED, Optional.empty());
            }
            TypeProto.Tensor tensor = type.getTensorType();
            Optional<List<Dimension>> dimensions = tensor.hasShape()
                    ? Optional.of(tensor.getShape().getDimList().stream()
                            .map(GraphReader::dimension)
                            .toList())
                    : Optional.empty();
            ElementType element = ElementType.ofCode(tensor.getElemType()).orElse(ElementType.UNDEFINED);
            return new OnnxValueInfo(info.getName(), OnnxValueInfo.TENSOR, element, dimensions);
        }

        /** Old exporters write -1 or 0 for an open dimension. */
        private static Dimension dimension(TensorShapeProto.Dimension dimension) {
            return new Dimension(
                    dimension.getDimValue() > 0 ? Optional.of(dimension.getDimValue()) : Optional.empty(),
                    dimension.getDimParam());
        }
    }

    /**
     * Counts what a message would become in memory, before the protobuf library builds it: a few bytes of a file can be
     * an object, or a number of eight bytes.
     */
    private static final class WireCheck {
        private static final int MAX_FIELDS = 1 << 19;
        private static final int MAX_PACKED_BYTES = 8 << 20;
        private static final int MAX_DEPTH = 64;

        /** Names stand in messages and in the generated C. */
        private static final int MAX_NAME_BYTES = 4096;

        /** Texts of any length, which nothing reads. */
        private static final Set<String> TEXTS = Set.of("onnx.StringStringEntryProto.value");

        private static final String DOCUMENTATION = "doc_string";

        private final String file;
        private int fields;
        private long packed;

        private WireCheck(String file) {
            this.file = file;
        }

        /**
         * Checks a file.
         *
         * @param type the file's message
         * @throws KilnException if it has too many or too deeply nested parts
         * @throws IOException if it is not a message
         */
        static void check(String file, byte[] content, Descriptor type) throws IOException {
            new WireCheck(file).scan(CodedInputStream.newInstance(content), type, 0);
        }

        private void scan(CodedInputStream input, Descriptor type, int depth) throws IOException {
            limit(depth, MAX_DEPTH, "levels of nested messages");
            while (!input.isAtEnd()) {
                int tag = input.readTag();
                if (tag == 0) {
                    return;
                }
                limit(++fields, MAX_FIELDS, "fields");
                FieldDescriptor field = type.findFieldByNumber(WireFormat.getTagFieldNumber(tag));
                boolean isDelimited = WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_LENGTH_DELIMITED;
                if (field == null || !isDelimited) {
                    input.skipField(tag);
                } else if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
                    int outer = input.pushLimit(input.readRawVarint32());
                    scan(input, field.getMessageType(), depth + 1);
                    input.popLimit(outer);
                } else {
                    skip(input, field);
                }
            }
        }

        private void skip(CodedInputStream input, FieldDescriptor field) throws IOException {
            int length = input.readRawVarint32();
            if (isName(field)) {
                limit(length, MAX_NAME_BYTES, "bytes in a name (" + field.getName() + ")");
            }
            if (field.isPackable()) {
                packed += isFixed(field) ? 0 : length;
                limit(packed, MAX_PACKED_BYTES, "bytes of packed integers");
            }
            input.skipRawBytes(length);
        }

        private static boolean isName(FieldDescriptor field) {
            return field.getType() == FieldDescriptor.Type.STRING
                    && !field.getName().equals(DOCUMENTATION)
                    && !TEXTS.contains(field.getFullName());
        }

        private static boolean isFixed(FieldDescriptor field) {
            return field.getType() == FieldDescriptor.Type.FLOAT || field.getType() == FieldDescriptor.Type.DOUBLE;
        }

        private void limit(long value, long most, String what) {
            if (value > most) {
                throw Failure.MODEL.exception(
                        "the file has more than " + most + " " + what, file, "a model for a microcontroller");
            }
        }
    }

    /**
     * Puts the nodes of a graph in an order in which each follows those whose results it reads, as the format demands and some tools do not
     * write. Of the nodes that can be next, the first in the file is.
     */
    private static final class NodeOrder {
        private static final int MOST_SHOWN = 8;

        private final List<OnnxNode> nodes;
        private final Map<String, Integer> producers = new HashMap<>();
        private final List<List<Integer>> readers = new ArrayList<>();
        private final int[] missing;

        private NodeOrder(List<OnnxNode> nodes) {
            this.nodes = nodes;
            this.missing = new int[nodes.size()];
            for (int i = 0; i < nodes.size(); i++) {
                readers.add(new ArrayList<>());
                for (String output : nodes.get(i).outputs()) {
                    producers.putIfAbsent(output, i);
                }
            }
            producers.remove("");
            for (int i = 0; i < nodes.size(); i++) {
                for (int producer : producers(i)) {
                    readers.get(producer).add(i);
                    missing[i]++;
                }
            }
        }

        /**
         * The nodes in order. A name that no node computes is an input, a constant, or one of the graph around it.
         *
         * @param file name of the file, for messages
         * @throws KilnException if nodes read results of each other in a circle
         */
        static List<OnnxNode> sorted(List<OnnxNode> nodes, String file) {
            return new NodeOrder(nodes).sorted(file);
        }

        private List<OnnxNode> sorted(String file) {
            PriorityQueue<Integer> ready = new PriorityQueue<>();
            for (int i = 0; i < missing.length; i++) {
                if (missing[i] == 0) {
                    ready.add(i);
                }
            }
            List<OnnxNode> sorted = new ArrayList<>();
            while (!ready.isEmpty()) {
                int next = ready.remove();
                sorted.add(nodes.get(next));
                for (int reader : readers.get(next)) {
                    if (--missing[reader] == 0) {
                        ready.add(reader);
                    }
                }
            }
            if (sorted.size() < nodes.size()) {
                throw circle(file);
            }
            return sorted;
        }

        /** The nodes of this graph whose results a node or its bodies read. */
        private Set<Integer> producers(int node) {
            Set<Integer> found = new LinkedHashSet<>();
            for (String name : read(nodes.get(node))) {
                Integer producer = producers.get(name);
                if (producer != null) {
                    found.add(producer);
                }
            }
            return found;
        }

        private static Set<String> read(OnnxNode node) {
            Set<String> names = new LinkedHashSet<>(node.inputs());
            node.attributes().values().forEach(attribute -> {
                if (attribute instanceof OnnxAttribute.Body body) {
                    names.addAll(readFromAround(body.value()));
                }
            });
            return names;
        }

        /** The names of the graph around it that a body reads. */
        private static Set<String> readFromAround(OnnxGraph body) {
            Set<String> names = new LinkedHashSet<>();
            Set<String> own = new HashSet<>(body.initializers().keySet());
            body.inputs().forEach(input -> own.add(input.name()));
            for (OnnxNode node : body.nodes()) {
                names.addAll(read(node));
                own.addAll(node.outputs());
            }
            body.outputs().forEach(output -> names.add(output.name()));
            names.removeAll(own);
            return names;
        }

        /** Every node that is left waits for another one that is left, so following them back from any of them ends in a circle. */
        private KilnException circle(String file) {
            int at = 0;
            while (missing[at] == 0) {
                at++;
            }
            Map<Integer, Integer> place = new HashMap<>();
            List<Integer> path = new ArrayList<>();
            while (!place.containsKey(at)) {
                place.put(at, path.size());
                path.add(at);
                at = producers(at).stream()
                        .filter(producer -> missing[producer] > 0)
                        .findFirst()
                        .orElseThrow();
            }
            List<Integer> circle = path.subList(place.get(at), path.size());
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < Math.min(circle.size(), MOST_SHOWN); i++) {
                OnnxNode node = nodes.get(circle.get(i));
                text.append(i == 0 ? "#" : " reads #")
                        .append(node.index())
                        .append(" ")
                        .append(node.type());
            }
            text.append(circle.size() > MOST_SHOWN ? " reads ..." : "")
                    .append(" reads #")
                    .append(nodes.get(at).index());
            return Failure.MODEL.exception(
                    (circle.size() == 1
                                    ? "a node reads its own result: "
                                    : circle.size() + " nodes read each other's results in a circle: ")
                            + text,
                    file,
                    "a graph in which each node can run after others",
                    "Correct the names of inputs and outputs in the tool that wrote the file");
        }
    }

    /** Counts bytes derived from a file, so that a small file cannot fill the memory. */
    public static final class ReadBudget {
        private final String file;
        private final long most;
        private long left;

        public ReadBudget(String file, long most) {
            this.file = file;
            this.most = most;
            this.left = most;
        }

        public long spent() {
            return most - left;
        }

        public void spend(long bytes) {
            left -= bytes;
            if (bytes < 0 || left < 0) {
                throw Failure.MODEL.exception(
                        String.format(Locale.ROOT, "the model's constants take more than %,d bytes", most),
                        file,
                        "a model that fits the board",
                        "kiln.limit.model raises the limit");
            }
        }
    }
}
