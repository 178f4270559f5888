// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.reader;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.TensorShapeProto;
import ai.onnx.proto.OnnxMl.TypeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.model.OnnxAttribute;
import io.kiln.frontend.onnx.model.OnnxGraph;
import io.kiln.frontend.onnx.model.OnnxNode;
import io.kiln.frontend.onnx.model.OnnxTensor;
import io.kiln.frontend.onnx.model.OnnxValueInfo;
import io.kiln.frontend.onnx.model.OnnxValueInfo.Dimension;
import io.kiln.frontend.onnx.model.Opsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Reads graphs, nodes, attributes and stated types. */
final class GraphReader {
    /** Bytes that a boxed number of a list takes, roughly. */
    private static final int BOXED = 24;

    private final String file;

    private final OnnxTensorReader tensors;
    private final ReadBudget budget;

    GraphReader(String file, OnnxTensorReader tensors, ReadBudget budget) {
        this.file = file;
        this.tensors = tensors;
        this.budget = budget;
    }

    OnnxGraph graph(GraphProto graph) {
        if (graph.getSparseInitializerCount() > 0) {
            throw new KilnException(Failure.MODEL.problem(
                    "the graph has sparse initializers",
                    file,
                    "dense initializers",
                    "Store the constants as dense tensors"));
        }
        Map<String, OnnxTensor> initializers = new LinkedHashMap<>();
        for (TensorProto tensor : graph.getInitializerList()) {
            String where = file + ": initializer `" + tensor.getName() + "`";
            if (initializers.put(tensor.getName(), tensors.read(tensor, where)) != null) {
                throw new KilnException(Failure.MODEL.problem("it exists twice", where, "", "Export the model again"));
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
