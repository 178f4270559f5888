// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import com.google.protobuf.InvalidProtocolBufferException;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.model.ElementType;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Small files that would take hours, or all memory, are refused in time. */
class HostileModelTest {
    private static final int OPSET = 13;
    private static final int MANY = 600_000;

    private final ModelBuilder model = new ModelBuilder(OPSET);

    HostileModelTest() {
        model.input("x", ElementType.FLOAT, List.of(1, 4));
    }

    private static void refused(Bytes file, String... parts) {
        assertThatThrownBy(() -> OnnxFrontend.read(file, "m.onnx", "m", InputShapes.NONE))
                .isInstanceOf(KilnException.class)
                .hasMessageContainingAll(parts)
                .message()
                .hasSizeLessThan(5000);
    }

    private static Bytes changed(Bytes file, Consumer<ModelProto.Builder> change) {
        try {
            ModelProto.Builder builder = ModelProto.parseFrom(file.toArray()).toBuilder();
            change.accept(builder);
            return Bytes.wrap(builder.build().toByteArray());
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalArgumentException(e);
        }
    }

    /** A body that hands on its last input. */
    private static GraphProto.Builder body(String... inputs) {
        GraphProto.Builder body = GraphProto.newBuilder();
        for (String input : inputs) {
            body.addInput(ValueInfoProto.newBuilder().setName(input));
        }
        return body.addOutput(ValueInfoProto.newBuilder().setName(inputs[inputs.length - 1]));
    }

    private static NodeProto loop(String trips, GraphProto body) {
        return NodeProto.newBuilder()
                .setOpType("Loop")
                .addInput(trips)
                .addAttribute(AttributeProto.newBuilder()
                        .setName("body")
                        .setType(AttributeProto.AttributeType.GRAPH)
                        .setG(body))
                .build();
    }

    private static NodeProto relu(String operator) {
        return NodeProto.newBuilder()
                .setOpType(operator)
                .addInput("x")
                .addOutput("y")
                .build();
    }

    @Test
    void loopsInLoopsWithoutNodes() {
        String trips = model.longs(true, 4096);
        GraphProto.Builder outer = body("i", "goesOn");
        for (int i = 0; i < 60; i++) {
            outer.addNode(loop(trips, body("j", "goesOnToo").build()));
        }
        refused(
                changed(model.build(), m -> m.getGraphBuilder().addNode(loop(trips, outer.build()))),
                "more than 262144 runs of bodies");
    }

    @Test
    void bodiesInBodies() {
        GraphProto body = body("j", "goesOn").build();
        for (int i = 0; i < 100; i++) {
            body = body("j", "goesOn").addNode(loop("i", body)).build();
        }
        GraphProto.Builder graph = body.toBuilder();
        refused(changed(model.build(), m -> m.setGraph(graph)), "more than 64 levels of nested messages");
    }

    @Test
    void functionsThatCallManyFunctions() {
        Bytes file = changed(model.build(), m -> {
            m.getGraphBuilder().addNode(relu("F").toBuilder().setDomain("d"));
            var function = m.addFunctionsBuilder()
                    .setName("F")
                    .setDomain("d")
                    .addInput("x")
                    .addOutput("y");
            for (int i = 0; i < 100; i++) {
                function.addNode(relu("F").toBuilder().setDomain("d").setOutput(0, "y" + i));
            }
        });
        refused(file, "nested more than 16 deep");
    }

    @Test
    void moreNodesThanAnyModelHas() {
        GraphProto.Builder graph = GraphProto.newBuilder();
        for (int i = 0; i < MANY; i++) {
            graph.addNode(NodeProto.getDefaultInstance());
        }
        refused(changed(model.build(), m -> m.getGraphBuilder().mergeFrom(graph.build())), "more than 524288 fields");
    }

    @Test
    void aConvolutionOfLargeConstants() {
        String data = model.constant(ElementType.FLOAT, List.of(1, 1, 512, 512), new byte[1 << 20]);
        String weight = model.constant(ElementType.FLOAT, List.of(1, 1, 256, 256), new byte[1 << 18]);
        model.node("Conv", List.of(data, weight), "y", Map.of());
        model.output("y", ElementType.FLOAT);
        refused(model.build(), "operator #0 Conv `y`", "computing the model's constants takes more than");
    }

    /** The ratio of the one size, times the length of the other axis. */
    @Test
    void sizesThatKeepAnAspectRatio() {
        ModelBuilder other = new ModelBuilder(18);
        other.input("x", ElementType.FLOAT, List.of(1, 60_000));
        String sizes = other.longs(List.of(60_000, 1));
        Map<String, Object> attributes = Map.of("mode", "linear", "keep_aspect_ratio_policy", "not_smaller");
        other.node("Resize", List.of("x", "", "", sizes), "y", attributes);
        other.output("y", ElementType.FLOAT);
        refused(other.build(), "node #0 Resize", "an axis of the result has 3600000000 elements", "1 to 65535");
    }

    /** Whether each of 2^26 bytes lies on the data. */
    @Test
    void aLargeImageThatIsCropped() {
        ModelBuilder other = new ModelBuilder(13);
        other.input("x", ElementType.INT8, List.of(4, 4));
        List<String> scale = List.of(other.floats(true, 0.5f), other.bytes(ElementType.INT8, true, 0));
        String real = other.node("DequantizeLinear", List.of("x", scale.get(0), scale.get(1)), "r", Map.of());
        String roi = other.floats(false, -1, -1, 2, 2);
        String sizes = other.longs(List.of(1 << 11, 1 << 15));
        Map<String, Object> attributes =
                Map.of("mode", "linear", "coordinate_transformation_mode", "tf_crop_and_resize");
        String resized = other.node("Resize", List.of(real, roi, "", sizes), "s", attributes);
        other.node("QuantizeLinear", List.of(resized, scale.get(0), scale.get(1)), "y", Map.of());
        other.output("y", ElementType.INT8);
        refused(other.build(), "it needs a table of 67108864 numbers", "at most 4194304");
    }

    /** The matrix of a transform is larger than its signal, and would take gigabytes. */
    @Test
    void aTransformOfALongSignal() {
        for (int samples : List.of(1 << 14, 1 << 16)) {
            ModelBuilder other = new ModelBuilder(17);
            other.input("x", ElementType.FLOAT, List.of(1, samples, 1));
            other.node("DFT", List.of("x", other.longs(true, 1 << 14)), "y", Map.of());
            other.output("y", ElementType.FLOAT);
            refused(other.build(), "node #0 DFT", "it needs a table of ", " numbers", "at most 4194304");
        }
    }

    @Test
    void manyBandsOfALongTransform() {
        ModelBuilder other = new ModelBuilder(17);
        String bands = other.longs(true, 1 << 14);
        String low = other.constant(ElementType.FLOAT, List.of(), new byte[4]);
        String high = other.constant(ElementType.FLOAT, List.of(), new byte[] {0, 0, 0, 0x45});
        other.node("MelWeightMatrix", List.of(bands, bands, bands, low, high), "y", Map.of());
        other.output("y", ElementType.FLOAT);
        refused(other.build(), "MelWeightMatrix", "it needs a table of 134234112 numbers");
    }

    /** 2^30 products. */
    @Test
    void aProductOfLargeConstants() {
        String matrix = model.constant(ElementType.FLOAT, List.of(1024, 1024), new byte[1 << 22]);
        model.node("MatMul", List.of(matrix, matrix), "y", Map.of());
        model.output("y", ElementType.FLOAT);
        refused(model.build(), "operator #0 MatMul `y`", "computing the model's constants takes more than");
    }

    @Test
    void aPoolOverLargeConstants() {
        String data = model.constant(ElementType.FLOAT, List.of(1, 1, 1024, 1024), new byte[1 << 22]);
        model.node("MaxPool", List.of(data), "y", Map.of("kernel_shape", List.of(512L, 512L)));
        model.output("y", ElementType.FLOAT);
        refused(model.build(), "operator #0 MaxPool `y`", "computing the model's constants takes more than");
    }

    @Test
    void theLargestOfManyConstants() {
        model.node("ConstantOfShape", List.of(model.longs(false, 1 << 22)), "c", Map.of());
        model.node("TopK", List.of("c", model.longs(false, 1 << 22)), "y", Map.of());
        model.output("y", ElementType.FLOAT);
        refused(model.build(), "operator #1 TopK `y`", "computing the model's constants takes more than");
    }

    @Test
    void aProductWithoutAResult() {
        model.input("a", ElementType.INT8, List.of(2, 2));
        model.node("MatMulInteger", List.of("a", "a"), "", Map.of());
        refused(model.build(), "node #0 MatMulInteger (a, a -> )", "its result has no name");
    }

    @Test
    void longNames() {
        refused(
                changed(model.build(), m -> m.getGraphBuilder().addNode(relu("R".repeat(1 << 20)))),
                "more than 4096 bytes in a name (op_type)");
        Bytes documented = changed(model.build(), m -> m.setDocString("d".repeat(1 << 20)));
        refused(documented, "the model has no outputs");
    }

    @Test
    void manyDimensions() {
        Bytes file = changed(model.build(), m -> {
            var shape = m.getGraphBuilder()
                    .getInputBuilder(0)
                    .getTypeBuilder()
                    .getTensorTypeBuilder()
                    .getShapeBuilder();
            for (int i = 0; i < 100_000; i++) {
                shape.addDimBuilder().setDimValue(1);
            }
        });
        refused(file, "input `x`: the input has 100002 dimensions");
    }

    @Test
    void namesThatMoveTheCursor() {
        Bytes file = changed(
                model.build(),
                m -> m.getGraphBuilder().addNode(relu("Nothing").toBuilder().setName("a\n\u001b[1mBUILD SUCCESS")));
        assertThatThrownBy(() -> OnnxFrontend.read(file, "m.onnx", "m", InputShapes.NONE))
                .message()
                .contains("`a\\u000a\\u001b[1mBUILD SUCCESS`")
                .satisfies(text -> assertThat(text.lines().count()).isLessThan(5));
    }
}
