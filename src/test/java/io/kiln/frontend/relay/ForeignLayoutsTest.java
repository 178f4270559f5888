// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.DType;
import io.kiln.ir.Function;
import java.math.BigDecimal;
import java.math.RoundingMode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Texts with other layouts of data and kernels than Kiln's. */
class ForeignLayoutsTest extends ForeignTexts {
    @Test
    void nchwIsComputedAsNhwc() {
        String kernel = param("k", DType.INT8, 4, 1, 3, 3);
        String depthwise = param("d", DType.INT8, 4, 1, 3, 3);
        String bias = param("b", DType.INT32, 4);
        String weight = param("w", DType.INT8, 5, 4 * 3 * 3);
        Function function = read("def @main(%x: Tensor[(1, 1, 6, 6), int8], " + kernel + ", " + depthwise + ", " + bias
                + ", " + weight + ") {\n" + """
                  %0 = nn.pad(%x, -3, pad_width=[[0, 0], [0, 0], [1, 0], [1, 0]]);
                  %1 = qnn.conv2d(%0, %k, -3, 0, 0.1f, 0.02f, padding=[0, 0, 1, 1], channels=4, kernel_size=[3, 3], out_dtype="int32");
                  %2 = nn.bias_add(%1, %b);
                  %3 = qnn.requantize(%2, 0.002f, 0, 0.9f, 2, axis=1, out_dtype="int8");
                  %4 = qnn.conv2d(%3, %d, 2, 0, 0.9f, 0.02f, strides=[2, 2], padding=[1, 1], groups=4, channels=4, kernel_size=[3, 3], out_dtype="int32");
                  %5 = add(%4, expand_dims(%b, axis=1, num_newaxis=2));
                  %6 = qnn.requantize(%5, 0.018f, 0, 0.5f, 0, axis=1, out_dtype="int8");
                  %7 = nn.relu(%6);
                  %8 = qnn.add(%7, %7, 0.5f, 0, 0.5f, 0, 0.9f, 0);
                  %9 = nn.batch_flatten(%8);
                  %10 = qnn.dense(%9, %w, 0, 0, 0.9f, 0.01f, units=5, out_dtype="int32");
                  qnn.requantize(%10, 0.009f, 0, 1f, 0, out_dtype="int8")
                }
                """);
        byte[] input = bytes(36);

        assertThat(run(function, input)).isEqualTo(nchw(input));
        assertThat(operators(function)).doesNotContain("nn.pad", "transpose");
        assertComesBack(function);
    }

    private int parameter(int index, int at) {
        return params.get(index).dtype() == DType.INT32
                ? params.get(index).data().buffer().getInt(4 * at)
                : params.get(index).data().get(at);
    }

    /** The same network, element by element. */
    private byte[] nchw(byte[] x) {
        int[] first = new int[4 * 36];
        int[] second = new int[4 * 9];
        for (int c = 0; c < 4; c++) {
            for (int i = 0; i < 36; i++) {
                int sum = parameter(2, c);
                for (int tap = 0; tap < 9; tap++) {
                    int row = i / 6 + tap / 3 - 1;
                    int column = i % 6 + tap % 3 - 1;
                    boolean inside = row >= 0 && row < 6 && column >= 0 && column < 6;
                    sum += inside ? (x[row * 6 + column] + 3) * parameter(0, c * 9 + tap) : 0;
                }
                first[c * 36 + i] = rescaled(sum, 0.002f, 0.9f, 2);
            }
            for (int i = 0; i < 9; i++) {
                int sum = parameter(2, c);
                for (int tap = 0; tap < 9; tap++) {
                    int row = i / 3 * 2 + tap / 3 - 1;
                    int column = i % 3 * 2 + tap % 3 - 1;
                    boolean inside = row >= 0 && row < 6 && column >= 0 && column < 6;
                    sum += inside ? (first[c * 36 + row * 6 + column] - 2) * parameter(1, c * 9 + tap) : 0;
                }
                int relu = Math.max(0, rescaled(sum, 0.018f, 0.5f, 0));
                second[c * 9 + i] = Math.min(127, 2 * rescaled(relu, 0.5f, 0.9f, 0));
            }
        }
        byte[] result = new byte[5];
        for (int o = 0; o < 5; o++) {
            int sum = 0;
            for (int i = 0; i < 36; i++) {
                sum += second[i] * parameter(3, o * 36 + i);
            }
            result[o] = (byte) rescaled(sum, 0.009f, 1f, 0);
        }
        return result;
    }

    private static int rescaled(int sum, float in, float out, int zero) {
        double ratio = (double) in / out;
        int shift = Math.getExponent(ratio) + 1;
        BigDecimal multiplier = BigDecimal.valueOf(Math.round(Math.scalb(ratio, 31 - shift)))
                .divide(BigDecimal.valueOf(2).pow(31 - shift));
        long rounded = multiplier
                .multiply(BigDecimal.valueOf(sum))
                .add(new BigDecimal("0.5"))
                .setScale(0, RoundingMode.FLOOR)
                .longValueExact();
        return (int) Math.max(-128, Math.min(127, rounded + zero));
    }

    @ParameterizedTest
    @ValueSource(strings = {"OIHW", "HWIO", "HWOI", "OHWI"})
    void kernelsMayLieInAnyOrder(String layout) {
        int[] size = layout.chars().map(c -> c == 'O' ? 4 : c == 'I' ? 2 : 3).toArray();
        String kernel = param("k", DType.INT8, size[0], size[1], size[2], size[3]);
        Function function = read("def @main(%x: Tensor[(1, 5, 5, 2), int8], " + kernel + ") {\n"
                + "  %0 = qnn.conv2d(%x, %k, 1, 0, 0.1f, 0.02f, data_layout=\"NHWC\", kernel_layout=\"" + layout
                + "\", out_dtype=\"int32\");\n  qnn.requantize(%0, 0.002f, 0, 0.9f, 0, out_dtype=\"int8\")\n}\n");
        byte[] input = bytes(50);
        byte[] result = run(function, input);

        for (int i = 0; i < result.length; i++) {
            int sum = 0;
            for (int tap = 0; tap < 18; tap++) {
                int row = tap / 6;
                int column = tap / 2 % 3;
                int weight = 0;
                for (int d = 0; d < 4; d++) {
                    int index = switch (layout.charAt(d)) {
                        case 'O' -> i % 4;
                        case 'I' -> tap % 2;
                        case 'H' -> row;
                        default -> column;
                    };
                    weight = weight * size[d] + index;
                }
                int at = ((i / 12 + row) * 5 + i / 4 % 3 + column) * 2 + tap % 2;
                sum += (input[at] - 1) * parameter(0, weight);
            }
            assertThat(result[i]).isEqualTo((byte) rescaled(sum, 0.002f, 0.9f, 0));
        }
    }
}
