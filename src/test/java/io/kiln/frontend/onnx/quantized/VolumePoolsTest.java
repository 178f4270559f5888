// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
            comparison.add(seed, new Pools(seed).pool(seed % 4 < 2), 3);
        }
        comparison.assertNoFloats();
        comparison.assertAnswers();
    }

    @Test
    void paddingThatDoesNotCountStaysInIntegers() {
        RuntimeComparison comparison = new RuntimeComparison(folder);
        for (int seed = 0; seed < MODELS; seed++) {
            comparison.add(seed, new Pools(seed).padded(seed % 4 == 3), 3);
        }
        comparison.assertNoFloats();
        comparison.assertAnswers();
    }

    private static final class Pools extends QuantizedDraw {
        private final Map<String, Object> window = new HashMap<>();
        private final Scale from;

        Pools(long seed) {
            super(seed, 2, 13, 19);
            from = new Scale(0.01f + random.nextFloat(), zero());
            window.put("kernel_shape", List.of((long) upTo(3), 1L + upTo(2), (long) upTo(3)));
            window.put("strides", List.of((long) upTo(2), (long) upTo(2), (long) upTo(3)));
        }

        /** With the same scale before and after, means of eight elements often lie between two bytes. */
        Model pool(boolean isSame) {
            if (below(3) == 0) {
                window.put("pads", List.of(0L, 1L, 0L, 0L, 1L, 0L));
                window.put("count_include_pad", 1L);
            }
            return ended(isSame, false);
        }

        Model padded(boolean isFused) {
            window.put("pads", coin() ? List.of(1L, 1L, 0L, 1L, 0L, 0L) : List.of(0L, 1L, 0L, 0L, 1L, 0L));
            window.put("kernel_shape", List.of(2L, 1L + upTo(2), (long) upTo(3)));
            window.put("count_include_pad", 0L);
            return ended(coin(), isFused);
        }

        private Model ended(boolean isSame, boolean isFused) {
            Scale to = isSame ? from : new Scale(from.scale() * (0.5f + random.nextFloat()), from.zero());
            List<Integer> dims = List.of(1, upTo(3), 4, 5, 6);
            if (isFused) {
                List<String> inputs = input("x", dims, from);
                inputs.addAll(parameters(to));
                endWithBytes(MICROSOFT, "QLinearAveragePool", inputs, window);
            } else {
                quantized(model.node("AveragePool", List.of(real("x", dims, from)), "mean", window), to);
            }
            return named("pool");
        }
    }
}
