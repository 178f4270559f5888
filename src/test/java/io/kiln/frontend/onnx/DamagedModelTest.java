// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.ir.text.RelayPrinter;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files with missing or changed bytes, and models whose nodes do not fit together, are models or errors with a message. */
class DamagedModelTest {
    private static final String FILE = "m.onnx";

    private static ModelBuilder network() {
        ModelBuilder model = new ModelBuilder(13);
        model.input("x", ElementType.FLOAT, List.of(1, 1, 4, 4));
        String weight = model.constant(ElementType.FLOAT, List.of(2, 1, 3, 3), new byte[72]);
        model.node("Conv", List.of("x", weight), "a", Map.of("pads", List.of(1L, 1L, 1L, 1L)));
        model.node("Flatten", List.of("a"), "y", Map.of());
        model.output("y", ElementType.FLOAT, List.of(1, 32));
        return model;
    }

    /** The model; empty if the file is refused. Any other exception fails the test. */
    private static Optional<String> read(byte[] file) {
        try {
            return Optional.of(RelayPrinter.print(OnnxFrontend.read(Bytes.wrap(file), FILE, "m", InputShapes.NONE)));
        } catch (KilnException e) {
            assertThat(e.getMessage()).contains(FILE);
            return Optional.empty();
        }
    }

    /** The last part of the file names a domain that the model does not use. */
    @Test
    void everyTruncationIsRefused() {
        byte[] whole = network().build().toArray();
        int needed = whole.length - "com.microsoft".length() - 6;
        assertThat(read(Arrays.copyOf(whole, needed))).isEqualTo(read(whole)).isPresent();
        for (int length = 0; length < whole.length; length++) {
            if (length != needed) {
                assertThat(read(Arrays.copyOf(whole, length)))
                        .as("%d of %d bytes", length, whole.length)
                        .isEmpty();
            }
        }
    }

    @Test
    void everyChangedByteIsAModelOrAnError() {
        byte[] whole = network().build().toArray();
        int refused = 0;
        for (int i = 0; i < whole.length; i++) {
            for (int bits : new int[] {1, 0x80, 0xFF}) {
                byte[] changed = whole.clone();
                changed[i] ^= (byte) bits;
                refused += read(changed).isEmpty() ? 1 : 0;
            }
        }
        assertThat(refused).isGreaterThan(whole.length);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Add|INT64|1,4|node #0 Add `sum` (x, w -> y)",
                "Add|FLOAT|1,3|node #0 Add `sum` (x, w -> y)",
                "MatMul|FLOAT|3,4|node #0 MatMul `sum` (x, w -> y)",
                "And|BOOL|1,4|node #0 And `sum` (x, w -> y)",
                "Conv|FLOAT|1,4|node #0 Conv `sum` (x, w -> y)",
                "Concat|INT8|1,4|node #0 Concat `sum` (x, w -> y)",
                "Gather|FLOAT|1,4|node #0 Gather `sum` (x, w -> y): its indices are"
            })
    void inputsThatDoNotFitAreRefusedWithNodeAndTensors(String operator, ElementType type, String dims, String place) {
        ModelBuilder model = new ModelBuilder(13);
        model.input("x", ElementType.FLOAT, List.of(1, 4));
        model.input(
                "w", type, Arrays.stream(dims.split(",")).map(Integer::valueOf).toList());
        model.named("sum", operator, List.of("x", "w"), "y", operator.equals("Concat") ? Map.of("axis", 1L) : Map.of());
        model.output("y", ElementType.FLOAT);
        assertThatThrownBy(() -> OnnxFrontend.read(model.build(), FILE, "m", InputShapes.NONE))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(FILE + ": " + place);
    }
}
