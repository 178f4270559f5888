// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import com.google.protobuf.InvalidProtocolBufferException;
import io.kiln.base.Bytes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Models of the first version of ONNX's operators, which ONNX Runtime does not run, in a version that it runs. */
public final class NewerModel {
    private static final int OPSET = 8;

    private NewerModel() {}

    /** The same model; one of a version that ONNX Runtime runs stays. */
    public static Bytes of(Bytes model) {
        try {
            ModelProto old = ModelProto.parseFrom(model.toArray());
            if (old.getOpsetImport(0).getVersion() >= 7) {
                return model;
            }
            ModelProto.Builder builder = old.toBuilder();
            builder.getOpsetImportBuilder(0).setVersion(OPSET);
            GraphProto.Builder graph = builder.getGraphBuilder();
            for (NodeProto.Builder node : List.copyOf(graph.getNodeBuilderList())) {
                update(node, graph);
            }
            return Bytes.wrap(builder.build().toByteArray());
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static void update(NodeProto.Builder node, GraphProto.Builder graph) {
        Map<String, AttributeProto> attributes = new HashMap<>();
        node.getAttributeList().forEach(a -> attributes.put(a.getName(), a));
        if (node.getOpType().equals("Reshape") && attributes.containsKey("shape")) {
            String name = node.getOutput(0) + "_shape";
            List<Long> shape = attributes.get("shape").getIntsList();
            graph.addInitializer(shape(name, List.of((long) shape.size()), shape));
            node.addInput(name).clearAttribute();
        } else if (attributes.containsKey("broadcast")) {
            node.clearAttribute();
            AttributeProto axis = attributes.get("axis");
            if (axis != null) {
                String name = node.getOutput(0) + "_rhs";
                String shape = name + "_shape";
                graph.addInitializer(shape(shape, List.of(3L), List.of(-1L, 1L, 1L)));
                graph.addNode(
                        0,
                        NodeProto.newBuilder()
                                .setOpType("Reshape")
                                .addInput(node.getInput(1))
                                .addInput(shape)
                                .addOutput(name));
                node.setInput(1, name);
            }
        }
    }

    private static TensorProto shape(String name, List<Long> dims, List<Long> values) {
        return TensorProto.newBuilder()
                .setName(name)
                .setDataType(TensorProto.DataType.INT64_VALUE)
                .addAllDims(dims)
                .addAllInt64Data(values)
                .build();
    }
}
