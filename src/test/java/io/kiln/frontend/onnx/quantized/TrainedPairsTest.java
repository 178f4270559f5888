// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static io.kiln.frontend.onnx.model.ElementType.INT8;

import io.kiln.base.Bytes;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.OnnxDraw;
import io.kiln.frontend.onnx.model.ElementType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
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
            comparison.add(seed, new OnnxDraw.Model("trained", model(new Random(seed), seed % 2 == 0)), 2);
        }
        comparison.assertNoFloats();
        comparison.assertAnswers();
    }

    private static Bytes model(Random random, boolean isPerChannel) {
        ModelBuilder model = new ModelBuilder(13);
        model.input("x", INT8, List.of(1, 3, 7, 7));
        String none = model.bytes(INT8, true, 0);
        model.node("DequantizeLinear", List.of("x", model.floats(true, 0.05f), none), "real", Map.of());
        model.node("Conv", List.of("real", weights(model, random, isPerChannel)), "sum", ModelBuilder.window(3, 1, 1));
        model.node("Relu", List.of("sum"), "limited", Map.of());
        model.node("QuantizeLinear", List.of("limited", model.floats(true, 0.11f), none), "y", Map.of());
        model.output("y", INT8);
        return model.build();
    }

    private static String weights(ModelBuilder model, Random random, boolean isPerChannel) {
        ByteBuffer data = ByteBuffer.allocate(Float.BYTES * CHANNELS * 27).order(ByteOrder.LITTLE_ENDIAN);
        while (data.hasRemaining()) {
            data.putFloat(random.nextFloat() - 0.5f);
        }
        String real = model.constant(ElementType.FLOAT, List.of(CHANNELS, 3, 3, 3), data.array());
        float[] scales = new float[isPerChannel ? CHANNELS : 1];
        for (int i = 0; i < scales.length; i++) {
            scales[i] = 0.003f + 0.001f * random.nextFloat();
        }
        String scale = model.floats(!isPerChannel, scales);
        String zero = model.bytes(INT8, !isPerChannel, new int[scales.length]);
        Map<String, Object> axis = Map.of("axis", 0L);
        model.node("QuantizeLinear", List.of(real, scale, zero), "bytes", axis);
        return model.node("DequantizeLinear", List.of("bytes", scale, zero), "weights", axis);
    }
}
