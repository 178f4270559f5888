// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.model.ElementType;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Blocks of weights that do not fit are refused with what would fit. */
class BadBlocksTest {
    private static final int DEPTH = 40;
    private static final int UNITS = 3;

    private static void assertRefused(ModelBuilder model, String message) {
        assertThatThrownBy(() -> ModelCompiler.compile(
                        RequestDraft.of(Path.of("m.onnx"), "c").build(),
                        OnnxFrontend.read(model.build(), "m.onnx", "m", InputShapes.NONE)))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(message);
    }

    private static ModelBuilder ofBits(long depth, long block, int weights, int scales, int zeroPoints, float scale) {
        ModelBuilder model = new ModelBuilder(21);
        float[] all = new float[scales];
        Arrays.fill(all, scale);
        List<String> inputs = List.of(
                model.input("x", ElementType.FLOAT, List.of(1, DEPTH)),
                model.constant(ElementType.UINT8, List.of(weights), new byte[weights]),
                model.floats(false, all),
                model.constant(ElementType.UINT8, List.of(zeroPoints), new byte[zeroPoints]));
        Map<String, Object> attributes = Map.of("K", depth, "N", (long) UNITS, "bits", 4L, "block_size", block);
        model.output(model.node("com.microsoft", "MatMulNBits", inputs, "y", attributes), ElementType.FLOAT);
        return model;
    }

    @ParameterizedTest
    @CsvSource({
        "40, 24, 60, 6, 3, 1, a power of two from 16 on",
        "40, 8, 60, 15, 9, 1, a power of two from 16 on",
        "40, 16, 60, 9, 6, 1, 72 elements",
        "40, 16, 72, 8, 6, 1, 9 elements",
        "40, 16, 72, 9, 5, 1, 6 elements",
        "40, 16, 72, 9, 6, Infinity, finite numbers",
        "41, 16, 72, 9, 6, 1, its K is 41",
        "1099511627776, 16, 72, 9, 6, 1, MatMulNBits",
        "40, 1073741824, 72, 3, 3, 1, elements",
    })
    void productsOfBits(long depth, long block, int weights, int scales, int zeroPoints, float scale, String message) {
        assertRefused(ofBits(depth, block, weights, scales, zeroPoints, scale), message);
    }

    @ParameterizedTest
    @CsvSource({"3, 13", "16, 2", "-1, 3", "41, 2"})
    void dequantizedBlocks(long block, int blocks) {
        ModelBuilder model = new ModelBuilder(21);
        List<String> inputs = List.of(
                model.constant(ElementType.INT4, List.of(DEPTH, UNITS), new byte[DEPTH * UNITS / 2]),
                model.constant(ElementType.FLOAT, List.of(blocks, UNITS), new byte[Float.BYTES * blocks * UNITS]));
        String weights = model.node("DequantizeLinear", inputs, "w", Map.of("axis", 0L, "block_size", block));
        String x = model.input("x", ElementType.FLOAT, List.of(1, DEPTH));
        model.output(model.node("MatMul", List.of(x, weights), "y", Map.of()), ElementType.FLOAT);
        assertRefused(model, "one for each block of axis 0");
    }

    /** An odd number of weights leaves half a byte, and no more. */
    @Test
    void halvesOfBytesThatAreLeft() {
        ModelBuilder model = new ModelBuilder(21);
        List<String> inputs =
                List.of(model.constant(ElementType.INT4, List.of(5, 3), new byte[9]), model.floats(true, 0.1f));
        String weights = model.node("DequantizeLinear", inputs, "w", Map.of());
        String x = model.input("x", ElementType.FLOAT, List.of(1, 5));
        model.output(model.node("MatMul", List.of(x, weights), "y", Map.of()), ElementType.FLOAT);
        assertRefused(model, "8 bytes for its type");
    }
}
