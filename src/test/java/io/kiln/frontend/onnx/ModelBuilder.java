// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.TensorShapeProto;
import ai.onnx.proto.OnnxMl.TypeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import com.google.protobuf.ByteString;
import io.kiln.base.Bytes;
import io.kiln.frontend.onnx.model.ElementType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Writes models for tests. */
public final class ModelBuilder {
    private static final int IR_VERSION = 8;

    private final GraphProto.Builder graph = GraphProto.newBuilder().setName("test");
    private int opset;
    private int constants;
    private int learning;

    /** States the version of ONNX's operators for machine learning. */
    public ModelBuilder learning(int version) {
        learning = version;
        return this;
    }

    /** @param opset version of ONNX's operators */
    public ModelBuilder(int opset) {
        this.opset = opset;
    }

    /** States another version of ONNX's operators. */
    public void version(int version) {
        opset = version;
    }

    /** Adds an input. */
    public String input(String name, ElementType type, List<Integer> dims) {
        graph.addInput(info(name, type, dims));
        return name;
    }

    /** Adds an output. */
    public void output(String name, ElementType type, List<Integer> dims) {
        graph.addOutput(info(name, type, dims));
    }

    /** Adds an output whose shape is not stated. */
    public void output(String name, ElementType type) {
        ValueInfoProto.Builder info = info(name, type, List.of()).toBuilder();
        info.getTypeBuilder().getTensorTypeBuilder().clearShape();
        graph.addOutput(info);
    }

    /** Adds a constant with raw elements; returns its name. */
    public String constant(ElementType type, List<Integer> dims, byte[] data) {
        String name = "c" + constants++;
        TensorProto.Builder tensor =
                TensorProto.newBuilder().setName(name).setDataType(code(type)).setRawData(ByteString.copyFrom(data));
        dims.forEach(tensor::addDims);
        graph.addInitializer(tensor);
        return name;
    }

    /** Adds a scalar or vector of floats. */
    public String floats(boolean isScalar, float... values) {
        ByteBuffer data = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            data.putFloat(value);
        }
        return constant(ElementType.FLOAT, isScalar ? List.of() : List.of(values.length), data.array());
    }

    /** Adds a scalar or vector of bytes. */
    public String bytes(ElementType type, boolean isScalar, int... values) {
        byte[] data = new byte[values.length];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) values[i];
        }
        return constant(type, isScalar ? List.of() : List.of(values.length), data);
    }

    /** Adds a scalar or vector of int64. */
    public String longs(boolean isScalar, long... values) {
        ByteBuffer data = ByteBuffer.allocate(8 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (long value : values) {
            data.putLong(value);
        }
        return constant(ElementType.INT64, isScalar ? List.of() : List.of(values.length), data.array());
    }

    /** Adds a vector of int32. */
    public String words(int... values) {
        ByteBuffer data = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            data.putInt(value);
        }
        return constant(ElementType.INT32, List.of(values.length), data.array());
    }

    /** Adds a vector of int64, such as a shape. */
    public String longs(List<Integer> values) {
        ByteBuffer data = ByteBuffer.allocate(8 * values.size()).order(ByteOrder.LITTLE_ENDIAN);
        values.forEach(data::putLong);
        return constant(ElementType.INT64, List.of(values.size()), data.array());
    }

    /** Attributes of a square window with equal padding on all sides; more may be added. */
    public static Map<String, Object> window(long kernel, long pad, long stride) {
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put("kernel_shape", List.of(kernel, kernel));
        attributes.put("pads", List.of(pad, pad, pad, pad));
        attributes.put("strides", List.of(stride, stride));
        return attributes;
    }

    /** Adds a node of ONNX's own domain; returns the output. */
    public String node(String operator, List<String> inputs, String output, Map<String, Object> attributes) {
        return node("", operator, inputs, output, attributes);
    }

    /** Adds a node; attributes are a Long, a Float, a String, a body, a tensor or a List of Long, Float or String. */
    public String node(
            String domain, String operator, List<String> inputs, String output, Map<String, Object> attributes) {
        node(domain, operator, inputs, List.of(output), attributes);
        return output;
    }

    /** Adds a node with a name. */
    public void named(
            String name, String operator, List<String> inputs, String output, Map<String, Object> attributes) {
        node(operator, inputs, output, attributes);
        graph.getNodeBuilder(graph.getNodeCount() - 1).setName(name);
    }

    /** Adds a node of several outputs. */
    public void node(
            String domain, String operator, List<String> inputs, List<String> outputs, Map<String, Object> attributes) {
        NodeProto.Builder node = NodeProto.newBuilder()
                .setDomain(domain)
                .setOpType(operator)
                .addAllInput(inputs)
                .addAllOutput(outputs);
        // The order of Map.of differs from run to run; a file's bytes do not.
        new TreeMap<>(attributes).forEach((name, value) -> node.addAttribute(attribute(name, value)));
        graph.addNode(node);
    }

    /** The file. */
    public Bytes build() {
        ModelProto.Builder model = ModelProto.newBuilder()
                .setIrVersion(IR_VERSION)
                .addOpsetImport(OperatorSetIdProto.newBuilder().setDomain("").setVersion(opset))
                .addOpsetImport(OperatorSetIdProto.newBuilder()
                        .setDomain("com.microsoft")
                        .setVersion(1))
                .setGraph(graph);
        if (learning > 0) {
            model.addOpsetImport(
                    OperatorSetIdProto.newBuilder().setDomain("ai.onnx.ml").setVersion(learning));
        }
        return Bytes.wrap(model.build().toByteArray());
    }

    @SuppressWarnings("unchecked")
    private static AttributeProto attribute(String name, Object value) {
        AttributeProto.Builder attribute = AttributeProto.newBuilder().setName(name);
        if (value instanceof Long whole) {
            attribute.setType(AttributeProto.AttributeType.INT).setI(whole);
        } else if (value instanceof Float real) {
            attribute.setType(AttributeProto.AttributeType.FLOAT).setF(real);
        } else if (value instanceof String text) {
            attribute.setType(AttributeProto.AttributeType.STRING).setS(ByteString.copyFromUtf8(text));
        } else if (value instanceof GraphProto body) {
            attribute.setType(AttributeProto.AttributeType.GRAPH).setG(body);
        } else if (value instanceof TensorProto tensor) {
            attribute.setType(AttributeProto.AttributeType.TENSOR).setT(tensor);
        } else if (value instanceof List<?> list && !list.isEmpty() && list.get(0) instanceof Float) {
            attribute.setType(AttributeProto.AttributeType.FLOATS).addAllFloats((List<Float>) value);
        } else if (value instanceof List<?> list && !list.isEmpty() && list.get(0) instanceof String) {
            attribute.setType(AttributeProto.AttributeType.STRINGS);
            ((List<String>) value).forEach(each -> attribute.addStrings(ByteString.copyFromUtf8(each)));
        } else {
            attribute.setType(AttributeProto.AttributeType.INTS).addAllInts((List<Long>) value);
        }
        return attribute.build();
    }

    private static ValueInfoProto info(String name, ElementType type, List<Integer> dims) {
        TensorShapeProto.Builder shape = TensorShapeProto.newBuilder();
        dims.forEach(dim -> shape.addDim(TensorShapeProto.Dimension.newBuilder().setDimValue(dim)));
        return ValueInfoProto.newBuilder()
                .setName(name)
                .setType(TypeProto.newBuilder()
                        .setTensorType(TypeProto.Tensor.newBuilder()
                                .setElemType(code(type))
                                .setShape(shape)))
                .build();
    }

    /** The number of a type in the file. */
    static int code(ElementType type) {
        for (int code = 0; code < 32; code++) {
            if (ElementType.ofCode(code).filter(type::equals).isPresent()) {
                return code;
            }
        }
        throw new IllegalArgumentException(type.text());
    }
}
