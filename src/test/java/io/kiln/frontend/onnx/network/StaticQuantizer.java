// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.network;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.TypeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.kiln.base.Bytes;
import io.kiln.frontend.onnx.OnnxRuntime;
import io.kiln.ir.Parameter;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Puts pairs of QuantizeLinear and DequantizeLinear around the operators of a float model, as ONNX Runtime's quantizer does. All scales are
 * powers of two, so that ONNX Runtime's sums of floats are exact, whatever their order; many of them lie at halves.
 */
final class StaticQuantizer {
    private static final Set<String> LAYERS = Set.of("Conv", "ConvTranspose", "Gemm", "MatMul");
    private static final Set<String> FLOAT_ONLY = Set.of("Shape", "Equal", "Cast", "GRU");
    private static final Set<String> SAME_SCALE = Set.of(
            "Reshape", "Transpose", "MaxPool", "Slice", "Split", "Gather", "Flatten", "Squeeze", "Unsqueeze", "Resize");

    private static final int BYTE = TensorProto.DataType.INT8_VALUE;

    private final GraphProto.Builder graph;
    private final ModelProto model;
    private final Form form;
    private final Map<String, TensorProto> constants = new HashMap<>();
    private final Map<String, Float> largest = new HashMap<>();
    private final Map<String, Float> scales = new HashMap<>();
    private final Map<String, String> dequantized = new HashMap<>();
    private final List<NodeProto> nodes = new ArrayList<>();
    private final List<String> quantized = new ArrayList<>();
    private int names;

    private StaticQuantizer(ModelProto model, Form form) {
        this.model = model;
        this.graph = model.getGraph().toBuilder();
        this.form = form;
        graph.getInitializerList().forEach(tensor -> constants.put(tensor.getName(), tensor));
    }

    /**
     * The quantized model, whose outputs are the bytes of all its tensors.
     *
     * @param params inputs of the float model
     * @param data a sample, from which ranges are taken
     * @param isUnsigned whether bytes are uint8
     */
    static Bytes quantize(Bytes file, List<Parameter> params, List<Bytes> data, boolean isUnsigned) {
        return quantized(file, params, data, new Form(isUnsigned, true)).finished(false);
    }

    /** As {@link #quantize}, but with any scales, as exporters write them, and with the last tensor's bytes as the only output. */
    static Bytes quantizeToLast(Bytes file, List<Parameter> params, List<Bytes> data) {
        return quantized(file, params, data, new Form(false, false)).finished(true);
    }

    /**
     * How tensors are quantized.
     *
     * @param isUnsigned whether bytes are uint8
     * @param areScalesPowers whether all scales are powers of two
     */
    private record Form(boolean isUnsigned, boolean areScalesPowers) {}

    private static StaticQuantizer quantized(Bytes file, List<Parameter> params, List<Bytes> data, Form form) {
        try {
            StaticQuantizer quantizer = new StaticQuantizer(ModelProto.parseFrom(file.toArray()), form);
            quantizer.calibrate(params, data);
            quantizer.model.getGraph().getNodeList().forEach(quantizer::add);
            return quantizer;
        } catch (InvalidProtocolBufferException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void calibrate(List<Parameter> params, List<Bytes> data) {
        ModelProto.Builder all = model.toBuilder();
        all.getGraphBuilder().clearOutput();
        List<String> outputs = new ArrayList<>();
        Set<String> reals = new HashSet<>();
        model.getGraph().getInputList().stream()
                .filter(input -> input.getType().getTensorType().getElemType() == TensorProto.DataType.FLOAT_VALUE)
                .forEach(input -> reals.add(input.getName()));
        for (NodeProto node : graph.getNodeList()) {
            boolean isReal = node.getOpType().equals("Cast")
                    || node.getInputList().stream().anyMatch(reals::contains);
            if (isReal && !node.getOpType().equals("Shape")) {
                reals.addAll(node.getOutputList());
                outputs.addAll(node.getOutputList());
            }
        }
        outputs.forEach(name ->
                all.getGraphBuilder().addOutput(ValueInfoProto.newBuilder().setName(name)));
        List<Bytes> results = OnnxRuntime.run(Bytes.wrap(all.build().toByteArray()), params, data);
        for (int i = 0; i < outputs.size(); i++) {
            see(outputs.get(i), results.get(i));
        }
        for (int i = 0; i < params.size(); i++) {
            if (reals.contains(params.get(i).name())) {
                see(params.get(i).name(), data.get(i));
            }
        }
    }

    private void see(String name, Bytes data) {
        FloatBuffer reals = data.buffer().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
        float most = 0;
        while (reals.hasRemaining()) {
            most = Math.max(most, Math.abs(reals.get()));
        }
        largest.put(name, most);
    }

    private float step(float most) {
        if (!form.areScalesPowers()) {
            return Math.max(most, Float.MIN_NORMAL) / 120;
        }
        return Math.scalb(1f, Math.getExponent(Math.max(most, Float.MIN_NORMAL)) - 6);
    }

    private void add(NodeProto node) {
        NodeProto.Builder changed = node.toBuilder();
        boolean isQuantized = !FLOAT_ONLY.contains(node.getOpType());
        for (int i = 0; i < node.getInputCount(); i++) {
            String input = node.getInput(i);
            if (isQuantized && largest.containsKey(input)) {
                changed.setInput(i, real(input));
            } else if (i == 1 && LAYERS.contains(node.getOpType())) {
                changed.setInput(i, weight(node, constants.get(input)));
            }
        }
        nodes.add(changed.build());
        if (SAME_SCALE.contains(node.getOpType()) && largest.containsKey(node.getInput(0))) {
            node.getOutputList().forEach(output -> scales.put(output, scales.get(node.getInput(0))));
        }
        if (isQuantized) {
            node.getOutputList().stream().filter(largest::containsKey).forEach(this::real);
        }
    }

    /** A tensor after it was quantized and dequantized. */
    private String real(String name) {
        return dequantized.computeIfAbsent(name, tensor -> {
            String scale = floats(scales.computeIfAbsent(tensor, t -> step(largest.get(t))));
            String zero = bytes(form.isUnsigned() ? TensorProto.DataType.UINT8_VALUE : BYTE, List.of(), new byte[] {
                (byte) (form.isUnsigned() ? 128 : 3)
            });
            String bytes = node("QuantizeLinear", List.of(tensor, scale, zero), List.of());
            quantized.add(bytes);
            return node("DequantizeLinear", List.of(bytes, scale, zero), List.of());
        });
    }

    /** A weight with a scale for each channel. */
    private String weight(NodeProto layer, TensorProto tensor) {
        List<Long> dims = tensor.getDimsList();
        boolean isFirst = layer.getOpType().equals("Conv") || layer.getOpType().equals("Gemm");
        int axis = isFirst ? 0 : layer.getOpType().equals("MatMul") ? dims.size() - 1 : 1;
        int inner = dims.subList(axis + 1, dims.size()).stream()
                .reduce(1L, (a, b) -> a * b)
                .intValue();
        int channels = dims.get(axis).intValue();
        FloatBuffer reals = tensor.getRawData()
                .asReadOnlyByteBuffer()
                .order(ByteOrder.LITTLE_ENDIAN)
                .asFloatBuffer();
        float[] most = new float[channels];
        for (int i = 0; i < reals.limit(); i++) {
            int c = i / inner % channels;
            most[c] = Math.max(most[c], Math.abs(reals.get(i)));
        }
        byte[] bytes = new byte[reals.limit()];
        float[] steps = new float[channels];
        for (int i = 0; i < bytes.length; i++) {
            int c = i / inner % channels;
            steps[c] = step(most[c]);
            bytes[i] = (byte) Math.max(-127, Math.min(127, Math.rint(reals.get(i) / steps[c])));
        }
        String zero = bytes(BYTE, List.of((long) channels), new byte[channels]);
        AttributeProto attribute = AttributeProto.newBuilder()
                .setName("axis")
                .setType(AttributeProto.AttributeType.INT)
                .setI(axis)
                .build();
        return node("DequantizeLinear", List.of(bytes(BYTE, dims, bytes), floats(steps), zero), List.of(attribute));
    }

    private String node(String operator, List<String> inputs, List<AttributeProto> attributes) {
        String name = operator + names++;
        nodes.add(NodeProto.newBuilder()
                .setOpType(operator)
                .addAllInput(inputs)
                .addOutput(name)
                .addAllAttribute(attributes)
                .build());
        return name;
    }

    private String floats(float... values) {
        ByteBuffer data = ByteBuffer.allocate(Float.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            data.putFloat(value);
        }
        List<Long> dims = values.length == 1 ? List.of() : List.of((long) values.length);
        return bytes(TensorProto.DataType.FLOAT_VALUE, dims, data.array());
    }

    private String bytes(int type, List<Long> dims, byte[] data) {
        String name = "quantized" + names++;
        graph.addInitializer(TensorProto.newBuilder()
                .setName(name)
                .setDataType(type)
                .addAllDims(dims)
                .setRawData(ByteString.copyFrom(data)));
        return name;
    }

    private Bytes finished(boolean isLastAlone) {
        int type = form.isUnsigned() ? TensorProto.DataType.UINT8_VALUE : BYTE;
        graph.clearNode().addAllNode(nodes).clearOutput();
        Set<String> used = new HashSet<>();
        nodes.forEach(node -> used.addAll(node.getInputList()));
        List<TensorProto> tensors = graph.getInitializerList().stream()
                .filter(tensor -> used.contains(tensor.getName()))
                .toList();
        graph.clearInitializer().addAllInitializer(tensors);
        for (String name : isLastAlone ? quantized.subList(quantized.size() - 1, quantized.size()) : quantized) {
            graph.addOutput(ValueInfoProto.newBuilder()
                    .setName(name)
                    .setType(TypeProto.newBuilder()
                            .setTensorType(TypeProto.Tensor.newBuilder().setElemType(type))));
        }
        return Bytes.wrap(model.toBuilder().setGraph(graph).build().toByteArray());
    }
}
