// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.ModelBuilder;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models whose quantization was trained keep float weights, which they quantize and dequantize themselves: they run in integers, too. */
class TrainedPairsTest {
    private static final int MODELS = 8;
    private static final int CHANNELS = 6;

    @TempDir
    private Path folder;

    @Test
    void weightsThatTheModelQuantizesAreIntegers() {
        RuntimeComparison comparison = new RuntimeComparison(folder);
        for (int seed = 0; seed < MODELS; seed++) {
            comparison.add(seed, new Trained(seed).draw(seed % 2 == 0), 2);
        }
        comparison.assertNoFloats();
        comparison.assertAnswers();
    }

    private static final class Trained extends QuantizedDraw {
        Trained(long seed) {
            super(seed, 2, 13);
        }

        Model draw(boolean isPerChannel) {
            String x = real("x", List.of(1, 3, 7, 7), new Scale(0.05f, 0));
            String sum = model.node("Conv", List.of(x, weights(isPerChannel)), "sum", ModelBuilder.window(3, 1, 1));
            quantized(model.node("Relu", List.of(sum), "limited", Map.of()), new Scale(0.11f, 0));
            return named("trained");
        }

        private String weights(boolean isPerChannel) {
            String real = constant(List.of(CHANNELS, 3, 3, 3), () -> random.nextFloat() - 0.5f);
            float[] scales = reals(isPerChannel ? CHANNELS : 1, () -> 0.003f + 0.001f * random.nextFloat());
            List<String> inputs = weights(real, scales);
            Map<String, Object> axis = Map.of("axis", 0L);
            String bytes = model.node("QuantizeLinear", inputs, "bytes", axis);
            return model.node("DequantizeLinear", with(bytes, inputs.subList(1, 3)), "weights", axis);
        }
    }
}
