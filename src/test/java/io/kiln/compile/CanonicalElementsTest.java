// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Element-wise operators behind TVM's canonicalisation of {@code qnn} operators answer as those that they spell out, and so does their C. */
class CanonicalElementsTest extends CanonicalTexts {
    @Test
    void theirAnswersAreThoseOfTheOperators() {
        standardParameters();
        shifted();
        elements();
        bytes();
        floats();
        assertCompiledAnswers();
    }

    /** Ratios above 1 are computed as they stand, and where bytes bear them they are one operator. */
    private void shifted() {
        Function function = same("ratio", """
            def @main(%x: Tensor[(1, 3, 3, 4), int8], %us: Tensor[(4), float32]) {
              qnn.requantize(%x, %us, 6, 1f, -2, axis=3, out_dtype="int8")
            }
            """, """
            def @main(%x: Tensor[(1, 3, 3, 4), int8], %um: Tensor[(4), int32], %ul: Tensor[(4), int32], %ur: Tensor[(4), int32]) {
              %0 = subtract(cast(%x, dtype="int32"), 6);
              %1 = fixed_point_multiply_per_axis(%0, %um, %ul, %ur, is_lshift_required=True, is_rshift_required=True, axes=[3]);
              cast(clip(add(-2, %1), a_min=-128f, a_max=127f), dtype="int8")
            }
            """);
        assertThat(operators(function)).containsExactly("tfl.requantize");
        Function wide = read("wide", """
            def @main(%x: Tensor[(1, 9), int32]) {
              %0 = fixed_point_multiply(%x, multiplier=1610612736, shift=3) /* ty=Tensor[(1, 9), int32] */;
              cast(clip(right_shift(left_shift(%0, 2), 4), a_min=-128f, a_max=127f), dtype="int8")
            }
            """);
        add(wide);
        assertThat(operators(wide)).contains("fixed_point_multiply", "left_shift", "right_shift", "tfl.cast");
        Bytes input = inputs.get(inputs.size() - 1);
        byte[] answer = Interpreter.run(wide, List.of(input)).get(0).toArray();
        for (int i = 0; i < answer.length; i++) {
            int product = (int) (((long) input.buffer().getInt(4 * i) * 1610612736 + (1L << 27)) >> 28);
            assertThat(answer[i]).isEqualTo((byte) Math.max(-128, Math.min(127, (product << 2) >> 4)));
        }
    }

    private void elements() {
        same("sum", """
            def @main(%x: Tensor[(1, 40), int8]) {
              qnn.add(%x, %x, 0.3f, 4, 0.7f, -3, 0.5f, 9)
            }
            """, """
                def @main(%x: Tensor[(1, 40), int8]) {
                  %0 = subtract(cast(%x, dtype="int32"), 4);
                  %1 = fixed_point_multiply(%0, multiplier=M1, shift=S1);
                  %2 = subtract(cast(%x, dtype="int32"), -3);
                  %3 = fixed_point_multiply(%2, multiplier=M2, shift=S2);
                  %4 = subtract(add(add(9, %1), add(9, %3)), 9);
                  cast(clip(%4, a_min=-128f, a_max=127f), dtype="int8")
                }
                """.replace("M1", multiplier(0.3f / 0.5))
                .replace("S1", shift(0.3f / 0.5))
                .replace("M2", multiplier(0.7f / 0.5))
                .replace("S2", shift(0.7f / 0.5)));
        Function product = read("product", """
            def @main(%x: Tensor[(1, 2, 3, 4), int8], %y: Tensor[(1, 2, 3, 4), int8]) {
              %0 = multiply(subtract(cast(%x, dtype="int32"), 4), subtract(cast(%y, dtype="int32"), -5));
              %1 = add(1, fixed_point_multiply(%0, multiplier=M, shift=S));
              %2 = cast(clip(%1, a_min=-128f, a_max=127f), dtype="int8");
              %3 = (%2, %x);
              concatenate(%3, axis=3)
            }
            """.replace("M", multiplier(0.013f)).replace("S)", shift(0.013f) + ")"));
        add(product);
        byte[] answer = Interpreter.run(product, last(2)).get(0).toArray();
        QuantizedMultiplier by = QuantizedMultiplier.of(0.013f);
        for (int i = 0; i < 24; i++) {
            int factor = (last(2).get(0).get(i) - 4) * (last(2).get(1).get(i) + 5);
            long scaled = ((long) factor * by.multiplier() + (1L << (30 - by.shift()))) >> (31 - by.shift());
            assertThat(answer[i / 4 * 8 + i % 4]).isEqualTo((byte) Math.max(-128, Math.min(127, scaled + 1)));
        }
        same("pool", """
            def @main(%x: Tensor[(1, 4, 4, 3), int8]) {
              %0 = cast(nn.avg_pool2d(cast(%x, dtype="int32"), pool_size=[2, 2], strides=[2, 2], layout="NHWC"), dtype="int8");
              qnn.requantize(%0, 0.4f, 2, 0.3f, -1, out_dtype="int8")
            }
            """, """
                def @main(%x: Tensor[(1, 4, 4, 3), int8]) {
                  %0 = nn.avg_pool2d(cast(%x, dtype="int32"), pool_size=[2, 2], strides=[2, 2], layout="NHWC");
                  %1 = fixed_point_multiply(subtract(%0, 2), multiplier=M, shift=S);
                  cast(clip(add(-1, %1), a_min=-128f, a_max=127f), dtype="int8")
                }
                """.replace("M", multiplier(0.4f / (double) 0.3f))
                .replace("S)", shift(0.4f / (double) 0.3f) + ")"));
        Function means = read("means", """
            def @main(%x: Tensor[(1, 2, 2, 3), int32]) {
              nn.avg_pool2d(%x, pool_size=[2, 2], layout="NHWC")
            }
            """);
        add(means);
        ByteBuffer mean = Interpreter.run(means, last(1)).get(0).buffer();
        ByteBuffer words = last(1).get(0).buffer();
        for (int c = 0; c < 3; c++) {
            long sum = (long) words.getInt(4 * c)
                    + words.getInt(4 * c + 12)
                    + words.getInt(4 * c + 24)
                    + words.getInt(4 * c + 36);
            assertThat(mean.getInt(4 * c)).isEqualTo((int) (sum / 4));
        }
        Function sums = read("sums", """
            def @main(%x: Tensor[(1, 4, 3), int32]) {
              (sum(%x, axis=[1]), mean(%x, axis=[2], keepdims=True), nn.bias_add(%x, meta[relay.Constant][0], axis=2), max(%x, axis=[1]))
            }
            """ + metadata());
        add(sums);
    }

    /** uint8, as TVM's own quantized models have it. */
    private void bytes() {
        Function function = read("bytes", """
            def @main(%x: Tensor[(1, 4, 5, 5), uint8], %w: Tensor[(3, 2, 5, 4), int8]) {
              %0 = nn.pad(%x, 120, pad_width=[[0, 0], [1, 1], [1, 0], [0, 0]]);
              %1 = nn.conv2d(%0, %w, padding=[0, 0, 0, 0], channels=4, kernel_size=[3, 2], data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32");
              %2 = subtract(%1, multiply(120, reshape(sum(cast(%w, dtype="int32"), axis=[0, 1, 2]), newshape=[1, 1, 1, 4])));
              %3 = fixed_point_multiply(%2, multiplier=1234567890, shift=-9);
              cast(clip(add(130, %3), a_min=0f, a_max=255f), dtype="uint8")
            }
            """);
        add(function);
        Function centred = read("centred", """
            def @main(%y: Tensor[(1, 4, 5, 5), uint8], %w: Tensor[(3, 2, 5, 4), int8]) {
              %0 = subtract(cast(%y, dtype="int16"), 120i16);
              %1 = nn.conv2d(%0, %w, padding=[1, 1, 1, 0], channels=4, kernel_size=[3, 2], data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32");
              %2 = fixed_point_multiply(%1, multiplier=1234567890, shift=-9);
              cast(clip(add(130, %2), a_min=0f, a_max=255f), dtype="uint8")
            }
            """);
        assertThat(Interpreter.run(centred, last(1))).isEqualTo(Interpreter.run(function, last(1)));
        add(centred);
    }

    private void floats() {
        String text = """
            def @main(%x: Tensor[(1, 12), int8]) {
              %0 = nn.softmax(REAL);
              RESULT
            }
            """;
        Function qnn = read(
                "softmax",
                text.replace("REAL", "qnn.dequantize(%x, 0.14f, 3)")
                        .replace("RESULT", "qnn.quantize(%0, 0.00390625f, -128, out_dtype=\"int8\")"));
        Function spelled = read(
                "softmax",
                text.replace("REAL", "multiply(cast(subtract(cast(%x, dtype=\"int32\"), 3), dtype=\"float32\"), 0.14f)")
                        .replace(
                                "RESULT",
                                "%1 = round(divide(%0, 0.00390625f));\n%2 = add(cast(%1, dtype=\"int32\"), -128);\n"
                                        + "cast(clip(%2, a_min=-128f, a_max=127f), dtype=\"int8\")"));
        assertThat(operators(spelled)).isEqualTo(operators(qnn));
        Function rounded = read("round", """
            def @main(%x: Tensor[(9), float32]) {
              %0 = clip(round(multiply(%x, 16f)), a_min=-127f, a_max=127f);
              %1 = annotation.stop_fusion(cast(%0, dtype="int8"));
              cast(cast(%1, dtype="int64"), dtype="int8")
            }
            """);
        add(rounded);
        Bytes halves = Bytes.wrap(ByteBuffer.allocate(36)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putFloat(0.5f / 16)
                .putFloat(-0.5f / 16)
                .putFloat(2.5f / 16)
                .putFloat(-2.5f / 16)
                .putFloat(99)
                .putFloat(0.49999997f / 16)
                .putFloat(-0f)
                .putFloat(-1.2f)
                .putFloat(7.0f)
                .array());
        Function finite = read("finite", """
            def @main(%x: Tensor[(9), float32], %y: Tensor[(9), int32]) {
              (where(isfinite(divide(%x, 0f)), 1f, 2f), negative(%y))
            }
            """);
        add(finite);
        assertThat(Interpreter.run(rounded, List.of(halves)).get(0).toArray())
                .containsExactly(1, -1, 3, -3, 127, 0, 0, -19, 112);
    }
}
