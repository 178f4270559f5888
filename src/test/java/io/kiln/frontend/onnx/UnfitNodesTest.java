// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static io.kiln.frontend.onnx.model.ElementType.FLOAT;
import static io.kiln.frontend.onnx.model.ElementType.INT32;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.frontend.InputShapes;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Nodes whose constants or attributes do not fit each other are refused: the generated code would read what is not there. */
class UnfitNodesTest {
    private final ModelBuilder model = new ModelBuilder(16);

    private void refused(String... parts) {
        model.output("y", FLOAT);
        assertThatThrownBy(() -> OnnxFrontend.read(model.build(), "m.onnx", "m", InputShapes.NONE))
                .isInstanceOf(KilnException.class)
                .hasMessageContainingAll(parts);
    }

    @ParameterizedTest
    @CsvSource({"Gather, 4, -4 to 3", "Gather, -5, -4 to 3", "GatherElements, 6, -4 to 3"})
    void indicesOutsideOfTheData(String operator, long index, String range) {
        model.input("x", FLOAT, List.of(4, 2));
        String indices = model.constant(INT32, List.of(1, 1), new byte[] {
            (byte) index, (byte) (index >> 8), (byte) (index >> 16), (byte) (index >> 24)
        });
        model.node(operator, List.of("x", indices), "y", Map.of("axis", 0L));
        refused("node #0 " + operator, "its index " + index + " lies outside of its data (4, 2)", range);
    }

    @Test
    void tuplesOutsideOfTheData() {
        model.input("x", FLOAT, List.of(4, 2));
        model.node("GatherND", List.of("x", model.longs(false, 3, 2)), "y", Map.of());
        refused("its index 2 lies outside of its data (4, 2)", "-2 to 1");
    }

    @Test
    void placesOutsideOfTheData() {
        model.input("x", FLOAT, List.of(3));
        model.node("ScatterElements", List.of("x", model.longs(false, 3), model.floats(false, 1)), "y", Map.of());
        refused("its index 3 lies outside of its data (3,)", "-3 to 2");
    }

    @Test
    void aSizeThatIsNotThatOfTheWeights() {
        model.input("x", FLOAT, List.of(3, 1, 2));
        model.input("w", FLOAT, List.of(1, 16, 2));
        model.input("r", FLOAT, List.of(1, 16, 4));
        model.node("LSTM", List.of("x", "w", "r"), "y", Map.of("hidden_size", 8L));
        refused("its hidden_size is 8", "that of its recurrent weight (1, 16, 4)");
    }

    @Test
    void negativePadding() {
        model.input("x", FLOAT, List.of(1, 1, 5, 5));
        model.input("w", FLOAT, List.of(1, 1, 3, 3));
        model.node("Conv", List.of("x", "w"), "y", Map.of("pads", List.of(-1L, 0L, 0L, 0L)));
        refused("its pads are [-1, 0] before and [0, 0] after the data", "slice the data");
    }

    @ParameterizedTest
    @ValueSource(strings = {"FusedConv", "SkipLayerNormalization", "BiasGelu"})
    void fusedOperatorsOfOnnxRuntimeSayHowToExportWithoutThem(String operator) {
        model.input("x", FLOAT, List.of(1, 4));
        model.node("com.microsoft", operator, List.of("x"), "y", Map.of());
        refused("com.microsoft." + operator, "without ONNX Runtime's extended optimizations and fusions");
    }
}
