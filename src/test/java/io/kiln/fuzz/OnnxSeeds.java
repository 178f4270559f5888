// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import io.kiln.base.Bytes;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.RandomNewerModels;
import io.kiln.frontend.onnx.ml.RandomForests;
import io.kiln.frontend.onnx.model.ElementType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Small ONNX models to start from. */
final class OnnxSeeds {
    private static final int OPSET = 13;

    /** Bytes of a forest. */
    private static final int MOST_OF_FOREST = 1500;

    private OnnxSeeds() {}

    static List<Bytes> all() {
        return Stream.concat(
                        Stream.of(
                                network(),
                                shapes(),
                                pooled(),
                                quantized(),
                                product(),
                                repeated(),
                                recurrent(),
                                unordered(),
                                known()),
                        Stream.concat(RandomNewerModels.each().stream(), forests()))
                .toList();
    }

    /** Nodes in reverse, one of them with bodies that read the others, and an optional output. */
    private static Bytes unordered() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", ElementType.FLOAT, List.of(-1, 4));
        model.input("flag", ElementType.BOOL, List.of());
        GraphProto body = GraphProto.newBuilder()
                .setName("body")
                .addNode(NodeProto.newBuilder().setOpType("Relu").addInput("b").addOutput("c"))
                .addNode(NodeProto.newBuilder().setOpType("Neg").addInput("a").addOutput("b"))
                .addOutput(ValueInfoProto.newBuilder().setName("c"))
                .build();
        model.node("If", List.of("flag"), "y", Map.of("then_branch", body, "else_branch", body));
        model.node("Abs", List.of("x"), "a", Map.of());
        model.output("y", ElementType.FLOAT, List.of(0, 7));
        model.output("y", ElementType.FLOAT);
        return model.build();
    }

    /** Operators of known data. */
    private static Bytes known() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", ElementType.INT64, List.of(6));
        model.node("NonZero", List.of(model.longs(false, 0, 3, 3)), "a", Map.of());
        model.node("", "Unique", List.of(model.floats(false, 2, 1, 2)), List.of("b", "c", "d", "e"), Map.of());
        Map<String, Object> grams = new LinkedHashMap<>();
        grams.put("mode", "TF");
        grams.put("min_gram_length", 1L);
        grams.put("max_gram_length", 2L);
        grams.put("max_skip_count", 1L);
        grams.put("ngram_counts", List.of(0L, 2L));
        grams.put("ngram_indexes", List.of(0L, 2L, 1L));
        grams.put("pool_int64s", List.of(1L, 2L, 3L, 4L));
        model.node("TfIdfVectorizer", List.of("x"), "y", grams);
        model.node("Sub", List.of("c", "c"), "z", Map.of());
        model.output("y", ElementType.FLOAT);
        return model.build();
    }

    /** Small forests, one for each operator of trees. */
    static Stream<Bytes> forests() {
        return LongStream.range(0, 4)
                .mapToObj(kind -> LongStream.iterate(kind, seed -> seed + 4)
                        .mapToObj(seed -> RandomForests.draw(seed).file())
                        .filter(file -> file.size() < MOST_OF_FOREST)
                        .findFirst()
                        .orElseThrow());
    }

    private static Bytes quantized() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", ElementType.UINT8, List.of(1, 2, 4, 4));
        String scale = model.floats(true, 0.5f);
        String zero = model.bytes(ElementType.UINT8, true, 3);
        model.node("DequantizeLinear", List.of("x", scale, zero), "real", Map.of());
        String weight = model.bytes(ElementType.INT8, false, 1, -2, 3, 4);
        model.node("Reshape", List.of(weight, model.longs(false, 2, 2, 1, 1)), "w", Map.of());
        String none = model.bytes(ElementType.INT8, true, 0);
        model.node("DequantizeLinear", List.of("w", model.floats(true, 0.25f), none), "weight", Map.of());
        model.node("Conv", List.of("real", "weight"), "a", Map.of());
        model.node("QuantizeLinear", List.of("a", scale, zero), "b", Map.of());
        model.node("DequantizeLinear", List.of("b", scale, zero), "c", Map.of());
        model.node("AveragePool", List.of("c"), "d", Map.of("kernel_shape", List.of(2L, 2L)));
        model.node("QuantizeLinear", List.of("d", scale, zero), "y", Map.of());
        model.output("y", ElementType.UINT8);
        return model.build();
    }

    private static Bytes product() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", ElementType.INT8, List.of(2, 3));
        String weight = model.constant(ElementType.INT8, List.of(3, 2), new byte[6]);
        String zero = model.bytes(ElementType.INT8, true, 1);
        model.node("MatMulInteger", List.of("x", weight, zero, zero), "a", Map.of());
        model.node("Cast", List.of("a"), "b", Map.of("to", 1L));
        model.node("DynamicQuantizeLinear", List.of("b"), "y", Map.of());
        model.output("y", ElementType.UINT8);
        return model.build();
    }

    private static Bytes repeated() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", ElementType.FLOAT, List.of(1, 4));
        GraphProto body = GraphProto.newBuilder()
                .setName("body")
                .addNode(NodeProto.newBuilder().setOpType("Relu").addInput("v").addOutput("w"))
                .addInput(ValueInfoProto.newBuilder().setName("i"))
                .addInput(ValueInfoProto.newBuilder().setName("goesOn"))
                .addInput(ValueInfoProto.newBuilder().setName("v"))
                .addOutput(ValueInfoProto.newBuilder().setName("goesOn"))
                .addOutput(ValueInfoProto.newBuilder().setName("w"))
                .build();
        model.node("Loop", List.of(model.longs(true, 3), "", "x"), "y", Map.of("body", body));
        model.output("y", ElementType.FLOAT);
        return model.build();
    }

    private static Bytes recurrent() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", ElementType.FLOAT, List.of(3, 1, 2));
        String weight = model.constant(ElementType.FLOAT, List.of(1, 8, 2), new byte[64]);
        model.node("LSTM", List.of("x", weight, weight, "", model.words(2)), "y", Map.of("hidden_size", 2L));
        model.output("y", ElementType.FLOAT);
        return model.build();
    }

    private static Bytes network() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", ElementType.FLOAT, List.of(1, 1, 4, 4));
        String weight = model.constant(ElementType.FLOAT, List.of(2, 1, 3, 3), new byte[72]);
        String bias = model.floats(false, 1, 2);
        model.node("Conv", List.of("x", weight, bias), "a", Map.of("pads", List.of(1L, 1L, 1L, 1L)));
        model.node("Relu", List.of("a"), "b", Map.of());
        model.node("Flatten", List.of("b"), "c", Map.of());
        String matrix = model.constant(ElementType.FLOAT, List.of(3, 32), new byte[384]);
        model.node("Gemm", List.of("c", matrix), "d", Map.of("transB", 1L));
        model.node("Softmax", List.of("d"), "y", Map.of());
        model.output("y", ElementType.FLOAT, List.of(1, 3));
        return model.build();
    }

    private static Bytes shapes() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", ElementType.FLOAT, List.of(2, 3, 4));
        model.node("Shape", List.of("x"), "s", Map.of());
        String first = model.constant(ElementType.INT64, List.of(1), new byte[8]);
        model.node("Gather", List.of("s", first), "n", Map.of("axis", 0L));
        String rest = model.constant(ElementType.INT64, List.of(1), new byte[] {-1, -1, -1, -1, -1, -1, -1, -1});
        model.node("Concat", List.of("n", rest), "t", Map.of("axis", 0L));
        model.node("Reshape", List.of("x", "t"), "r", Map.of());
        model.node("Transpose", List.of("r"), "u", Map.of("perm", List.of(1L, 0L)));
        model.node("ReduceMean", List.of("u"), "y", Map.of("axes", List.of(0L), "keepdims", 0L));
        model.output("y", ElementType.FLOAT, List.of(2));
        return model.build();
    }

    private static Bytes pooled() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", ElementType.FLOAT, List.of(1, 2, 6, 6));
        model.node("MaxPool", List.of("x"), "a", Map.of("kernel_shape", List.of(2L, 2L), "strides", List.of(2L, 2L)));
        model.node("Add", List.of("a", model.floats(true, 0.5f)), "b", Map.of());
        model.node("GlobalAveragePool", List.of("b"), "c", Map.of());
        model.node("Sigmoid", List.of("c"), "y", Map.of());
        model.output("y", ElementType.FLOAT, List.of(1, 2, 1, 1));
        return model.build();
    }
}
