// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.Bytes;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.OnnxDraw;
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
            comparison.add(seed, new OnnxDraw.Model("pool", pool(new Random(seed), seed)), 3);
        }
        comparison.assertNoFloats();
        comparison.assertAnswers();
    }

    @Test
    void paddingThatDoesNotCountStaysInIntegers() {
        RuntimeComparison comparison = new RuntimeComparison(folder);
        for (int seed = 0; seed < MODELS; seed++) {
            Bytes model = padded(new Random(seed), seed);
            comparison.add(seed, new OnnxDraw.Model("padded", model), 3);
        }
        comparison.assertNoFloats();
        comparison.assertAnswers();
    }

    private static Bytes padded(Random random, int seed) {
        ModelBuilder model = new ModelBuilder(seed % 2 == 0 ? 13 : 19);
        ElementType type = seed % 3 == 0 ? ElementType.UINT8 : ElementType.INT8;
        model.input("x", type, List.of(1, 1 + random.nextInt(3), 4, 5, 6));
        float scale = 0.01f + random.nextFloat();
        String from = model.floats(true, scale);
        String to = model.floats(true, random.nextBoolean() ? scale : scale * (0.5f + random.nextFloat()));
        String zero = model.bytes(type, true, random.nextInt(100));
        Map<String, Object> window = window(random);
        window.put("pads", List.of(0L, 1L, 0L, 0L, 1L, 0L));
        window.put("kernel_shape", List.of(2L, 2L + random.nextInt(2), 1L + random.nextInt(3)));
        if (random.nextBoolean()) {
            window.put("pads", List.of(1L, 1L, 0L, 1L, 0L, 0L));
        }
        window.put("count_include_pad", 0L);
        if (seed % 4 == 3) {
            model.node("com.microsoft", "QLinearAveragePool", List.of("x", from, zero, to, zero), "y", window);
        } else {
            model.node("DequantizeLinear", List.of("x", from, zero), "real", Map.of());
            model.node("AveragePool", List.of("real"), "mean", window);
            model.node("QuantizeLinear", List.of("mean", to, zero), "y", Map.of());
        }
        model.output("y", type);
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
