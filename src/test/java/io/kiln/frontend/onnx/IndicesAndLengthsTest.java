// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.Interpreter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Places of maxima, boxes of images, and sequences that are shorter than their tensor, answer as in ONNX Runtime. */
class IndicesAndLengthsTest {
    private static final double TOLERANCE = 1e-5;

    private ModelBuilder model = new ModelBuilder(14);

    private void assertAnswers() {
        Bytes file = model.build();
        Function function = OnnxFrontend.read(file, "m.onnx", "m", InputShapes.NONE);
        List<Bytes> inputs = function.params().stream()
                .map(p -> RandomOperators.input(p.type(), p.id() + 1))
                .toList();
        List<Bytes> expected = OnnxRuntime.run(file, function.params(), inputs);
        List<Bytes> actual = Interpreter.run(function, inputs);
        assertThat(actual).hasSameSizeAs(expected);
        for (int i = 0; i < actual.size(); i++) {
            TensorType type = function.types().get(function.results().get(i).id());
            if (type.dtype() != DType.FLOAT32) {
                assertThat(actual.get(i)).isEqualTo(expected.get(i));
                continue;
            }
            Constant wanted = new Constant("", type, expected.get(i));
            Constant given = new Constant("", type, actual.get(i));
            for (int k = 0; k < wanted.elements(); k++) {
                assertThat((double) given.real(k)).isBetween(wanted.real(k) - TOLERANCE, wanted.real(k) + TOLERANCE);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "FLOAT, 2, 2, 0, 1, 0, 0",
        "FLOAT, 3, 2, 1, 1, 0, 0",
        "FLOAT, 3, 1, 1, 2, 0, 1",
        "FLOAT, 3, 3, 0, 1, 1, 0",
        "UINT8, 2, 1, 0, 1, 0, 1",
        "INT8, 3, 2, 1, 1, 0, 0"
    })
    void placesOfMaxima(ElementType type, long kernel, long stride, long pad, long dilation, long ceil, long storage) {
        model.input("x", type, List.of(2, 3, 7, 8));
        Map<String, Object> attributes = new HashMap<>(Map.of(
                "kernel_shape", List.of(kernel, kernel),
                "strides", List.of(stride, stride),
                "pads", List.of(pad, pad, pad, pad),
                "dilations", List.of(dilation, dilation),
                "ceil_mode", ceil,
                "storage_order", storage));
        model.node("", "MaxPool", List.of("x"), List.of("y", "i"), attributes);
        model.output("y", type);
        model.output("i", ElementType.INT64);
        assertAnswers();
    }

    @Test
    void maximaReturnToTheirPlaces() {
        model.input("x", ElementType.FLOAT, List.of(2, 3, 6, 8));
        Map<String, Object> window = Map.of("kernel_shape", List.of(2L, 2L), "strides", List.of(2L, 2L));
        model.node("", "MaxPool", List.of("x"), List.of("y", "i"), window);
        model.node("Relu", List.of("y"), "r", Map.of());
        model.node("", "MaxUnpool", List.of("r", "i"), List.of("z"), window);
        model.output("z", ElementType.FLOAT);
        assertAnswers();
    }

    /** The boxes lie inside, across the border, and outside. */
    @ParameterizedTest
    @CsvSource({"10, ''", "16, half_pixel", "16, output_half_pixel"})
    void boxesOfImages(int opset, String places) {
        model = new ModelBuilder(opset);
        model.input("x", ElementType.FLOAT, List.of(2, 3, 7, 8));
        ByteBuffer boxes = ByteBuffer.allocate(3 * 4 * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (float edge : new float[] {1, 2, 9.5f, 8.25f, -3, -1, 4.5f, 20, 30, 30, 40, 41}) {
            boxes.putFloat(edge);
        }
        String constant = model.constant(ElementType.FLOAT, List.of(3, 4), boxes.array());
        Map<String, Object> attributes = new HashMap<>(
                Map.of("output_height", 3L, "output_width", 2L, "sampling_ratio", 2L, "spatial_scale", 0.5f));
        if (!places.isEmpty()) {
            attributes.put("coordinate_transformation_mode", places);
        }
        model.node("", "RoiAlign", List.of("x", constant, model.longs(false, 1, 0, 1)), List.of("y"), attributes);
        model.output("y", ElementType.FLOAT);
        assertAnswers();
    }

    @ParameterizedTest
    @CsvSource({"LSTM, 4, forward, 1", "LSTM, 4, reverse, 1", "GRU, 3, bidirectional, 2", "RNN, 1, bidirectional, 2"})
    void sequencesOfSeveralLengths(String operator, int gates, String direction, int directions) {
        model.input("x", ElementType.FLOAT, List.of(5, 3, 2));
        model.input("w", ElementType.FLOAT, List.of(directions, gates * 4, 2));
        model.input("r", ElementType.FLOAT, List.of(directions, gates * 4, 4));
        String lengths = model.words(5, 2, 3);
        model.node(
                "",
                operator,
                List.of("x", "w", "r", "", lengths),
                List.of("y", "h"),
                Map.of("hidden_size", 4L, "direction", direction));
        model.output("y", ElementType.FLOAT);
        model.output("h", ElementType.FLOAT);
        assertAnswers();
    }

    /** A cache's keys that are not valid yet are no numbers; the scores are those that the softmax gets. */
    @ParameterizedTest
    @CsvSource({"'', 0, 0", "'', 1, 0", "BOOL, 0, 0", "FLOAT, 0, 1.5", "FLOAT, 1, 0"})
    void keysBehindTheValidOnesCanBeAnything(String mask, long causal, float softcap) {
        model = new ModelBuilder(24);
        List<Integer> dims = List.of(2, 1, 3, 2);
        model.input("q", ElementType.FLOAT, dims);
        ByteBuffer keys = ByteBuffer.allocate(12 * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (float key :
                new float[] {1, 2, -1, 0.5f, Float.NaN, 2, -2, 1, Float.POSITIVE_INFINITY, 1, Float.NEGATIVE_INFINITY, 3
                }) {
            keys.putFloat(key);
        }
        String k = model.constant(ElementType.FLOAT, dims, keys.array());
        model.input("v", ElementType.FLOAT, dims);
        if (!mask.isEmpty()) {
            model.input("m", ElementType.valueOf(mask), List.of(3, 3));
        }
        model.node(
                "",
                "Attention",
                List.of("q", k, "v", mask.isEmpty() ? "" : "m", "", "", model.longs(false, 2, 1)),
                List.of("y", "", "", "s"),
                Map.of("is_causal", causal, "softcap", softcap, "qk_matmul_output_mode", 2L));
        model.output("y", ElementType.FLOAT);
        model.output("s", ElementType.FLOAT);
        assertAnswers();
    }

    @Test
    void lengthsThatDoNotFitAreRefused() {
        model.input("x", ElementType.FLOAT, List.of(5, 3, 2));
        model.input("w", ElementType.FLOAT, List.of(1, 4, 2));
        model.input("r", ElementType.FLOAT, List.of(1, 4, 4));
        model.node("", "RNN", List.of("x", "w", "r", "", model.words(5, 6, 1)), List.of("y"), Map.of());
        model.output("y", ElementType.FLOAT);
        assertThatThrownBy(() -> OnnxFrontend.read(model.build(), "m.onnx", "m", InputShapes.NONE))
                .hasMessageContaining("its lengths of sequences are [5, 6, 1]")
                .hasMessageContaining("3 numbers up to 5");
    }
}
