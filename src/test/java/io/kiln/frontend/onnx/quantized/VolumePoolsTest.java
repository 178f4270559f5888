// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.model.ElementType;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Means over volumes of bytes stay in integers and answer as in ONNX Runtime, halves included. */
class VolumePoolsTest {
    private static final int MODELS = 12;

    @TempDir
    private Path folder;

    @Test
    void answerAsInOnnxRuntime() {
        RuntimeComparison comparison = new RuntimeComparison(folder);
        for (int seed = 0; seed < MODELS; seed++) {
            comparison.add(seed, new RandomModels.Model("pool", pool(new Random(seed), seed)), 3);
        }
        comparison.assertNoFloats();
        comparison.assertAnswers();
    }

    @Test
    void paddingThatDoesNotCountStaysInFloats() {
        RuntimeComparison comparison = new RuntimeComparison(folder);
        comparison.add(0, new RandomModels.Model("padded", padded("AveragePool")), 1);
        comparison.assertAnswers();
        assertThatThrownBy(() -> comparison.add(1, new RandomModels.Model("padded", padded("QLinearAveragePool")), 1))
                .hasMessageContaining("it has padding that does not count around volumes");
    }

    private static Bytes padded(String operator) {
        ModelBuilder model = new ModelBuilder(13);
        model.input("x", ElementType.INT8, List.of(1, 2, 4, 5, 6));
        String scale = model.floats(true, 0.1f);
        String zero = model.bytes(ElementType.INT8, true, 3);
        Map<String, Object> window =
                Map.of("kernel_shape", List.of(2L, 3L, 2L), "pads", List.of(0L, 1L, 0L, 0L, 1L, 1L));
        if (operator.startsWith("Q")) {
            List<String> inputs = List.of("x", scale, zero, model.floats(true, 0.09f), zero);
            model.node("com.microsoft", operator, inputs, "y", window);
        } else {
            model.node("DequantizeLinear", List.of("x", scale, zero), "real", Map.of());
            model.node(operator, List.of("real"), "mean", window);
            model.node("QuantizeLinear", List.of("mean", model.floats(true, 0.0917f), zero), "y", Map.of());
        }
        model.output("y", ElementType.INT8);
        return model.build();
    }

    /** With the same scale before and after, means of eight elements often lie between two bytes. */
    private static Bytes pool(Random random, int seed) {
        ModelBuilder model = new ModelBuilder(seed % 2 == 0 ? 13 : 19);
        ElementType type = seed % 3 == 0 ? ElementType.UINT8 : ElementType.INT8;
        model.input("x", type, List.of(1, 1 + random.nextInt(3), 4, 5, 6));
        float scale = 0.01f + random.nextFloat();
        String from = model.floats(true, scale);
        String to = model.floats(true, seed % 4 < 2 ? scale : scale * (0.5f + random.nextFloat()));
        String zero = model.bytes(type, true, random.nextInt(100));
        model.node("DequantizeLinear", List.of("x", from, zero), "real", Map.of());
        model.node("AveragePool", List.of("real"), "mean", window(random));
        model.node("QuantizeLinear", List.of("mean", to, zero), "y", Map.of());
        model.output("y", type);
        return model.build();
    }

    private static Map<String, Object> window(Random random) {
        Map<String, Object> attributes = new HashMap<>();
        attributes.put("kernel_shape", List.of(1L + random.nextInt(3), 2L + random.nextInt(2), 1L + random.nextInt(3)));
        attributes.put("strides", List.of(1L + random.nextInt(2), 1L + random.nextInt(2), 1L + random.nextInt(3)));
        if (random.nextInt(3) == 0) {
            attributes.put("pads", List.of(0L, 1L, 0L, 0L, 1L, 0L));
            attributes.put("count_include_pad", 1L);
        }
        return attributes;
    }
}
