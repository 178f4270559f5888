// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.element.Rescaling;
import io.kiln.reference.kernel.Tensor;
import java.util.List;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class FloatKeysTest {
    private static final int CASES = 40;

    /** On both sides of every step, for scales of all magnitudes. */
    @ParameterizedTest
    @EnumSource(
            value = Rounding.class,
            names = {"TFLITE", "ONNX"})
    void resultsStepWhereTheReferenceDoes(Rounding rounding) {
        DoubleUnaryOperator round = rounding == Rounding.ONNX ? Math::rint : FixedPoint::roundHalfAway;
        Random random = new Random(3);
        for (int i = 0; i < CASES; i++) {
            float scale = i % 4 == 0
                    ? Math.scalb(1f, random.nextInt(40) - 30)
                    : Math.scalb(1 + random.nextFloat(), random.nextInt(40) - 30);
            int zeroPoint = random.nextInt(256) - 128;
            int[] steps = FloatKeys.steps(scale, zeroPoint, round);
            float[] data = new float[2 * steps.length];
            for (int s = 0; s < steps.length; s++) {
                data[2 * s] = value(steps[s] - 1);
                data[2 * s + 1] = value(steps[s]);
            }
            int[] results = quantized(rounding, data, scale, zeroPoint);
            for (int s = 0; s < steps.length; s++) {
                assertThat(results[2 * s]).as(scale + " " + zeroPoint).isEqualTo(s - 128);
                assertThat(results[2 * s + 1]).as(scale + " " + zeroPoint).isEqualTo(s - 127);
            }
        }
    }

    private static int[] quantized(Rounding rounding, float[] data, float scale, int zeroPoint) {
        Shape shape = Shape.of(data.length);
        Tensor result = Rescaling.quantize(
                new QnnQuantize(DType.INT8, rounding),
                List.of(
                        Tensor.of(new TensorType(shape, DType.FLOAT32), data),
                        Tensor.of(new TensorType(Shape.of(), DType.FLOAT32), new float[] {scale}),
                        Tensor.of(new TensorType(Shape.of(), DType.INT32), new int[] {zeroPoint})),
                new TensorType(shape, DType.INT8));
        return result.ints();
    }

    private static float value(int key) {
        return Float.intBitsToFloat(key < 0 ? key ^ Integer.MAX_VALUE : key);
    }

    /** Words are no results of quantization: lowerings limit values to 16 bits at most. */
    @Test
    void resultsOfQuantizationAreOfAtMostSixteenBits() {
        for (DType wide : List.of(DType.INT32, DType.INT64, DType.FLOAT32, DType.BOOL)) {
            assertThatThrownBy(() -> new QnnQuantize(wide, Rounding.TFLITE))
                    .hasMessage("out_dtype must be int8, uint8 or int16, not " + wide.text());
            assertThatThrownBy(() -> new QnnRequantize(-1, Rounding.UPWARD, wide))
                    .hasMessage("out_dtype must be int8, uint8 or int16, not " + wide.text());
        }
    }
}
