// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.InputShapes;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.reference.Interpreter;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Texts as TVM's frontends print them: defaults left out, other layouts, several calls for one operator, TVM's rounding. */
class ForeignTextTest {
    private final Random random = new Random(17);
    private final List<NamedTensor> params = new ArrayList<>();

    private String param(String name, DType dtype, Integer... dims) {
        int elements = List.of(dims).stream().reduce(1, (a, b) -> a * b);
        byte[] data = new byte[elements * dtype.bytes()];
        random.nextBytes(data);
        // Keeps int32 within 16 bits.
        for (int i = 3; dtype == DType.INT32 && i < data.length; i += 4) {
            data[i] = (byte) (data[i - 2] >> 7);
            data[i - 1] = data[i];
        }
        params.add(new NamedTensor(name, dtype, List.of(dims), Bytes.wrap(data)));
        return "%" + name + ": Tensor[(" + List.of(dims).toString().replaceAll("[\\[\\]]", "") + "), " + dtype.text()
                + "]";
    }

    private Function read(String text) {
        return read(text, InputShapes.NONE);
    }

    private Function read(String text, InputShapes shapes) {
        return RelayFrontend.read(
                Bytes.ofText(text), "m.relay", Optional.of(ParameterFile.write(params)), "m.params", "default", shapes);
    }

    private static byte[] run(Function function, byte[] input) {
        return Interpreter.run(function, List.of(Bytes.wrap(input))).get(0).toArray();
    }

    private byte[] bytes(int count) {
        byte[] data = new byte[count];
        random.nextBytes(data);
        return data;
    }

    private static List<String> operators(Function function) {
        return function.bindings().stream().map(b -> b.op().name()).toList();
    }

    /** What is printed of a text that TVM printed is read again as the same function. */
    private static void assertComesBack(Function function) {
        Function again = RelayFrontend.read(
                Bytes.ofText(RelayPrinter.astext(function)), "m.relay", Optional.empty(), "m.params", "default");
        assertThat(again).isEqualTo(function);
    }

    @ParameterizedTest
    @CsvSource({"UPWARD, 0.25f, 0.5f", "TONEAREST, 0.25f, 0.5f", "UPWARD, 0.07f, 0.031f", "TONEAREST, 0.07f, 0.031f"})
    void rescalingRoundsOnce(String rounding, String in, String out) {
        Function function = read("def @main(%x: Tensor[(256), int8]) {\n  qnn.requantize(%x, " + in + ", 3, " + out
                + ", -5, rounding=\"" + rounding + "\", out_dtype=\"int8\")\n}\n");

        byte[] input = new byte[256];
        IntStream.range(0, 256).forEach(i -> input[i] = (byte) i);
        byte[] result = run(function, input);

        int halves = 0;
        for (int i = 0; i < 256; i++) {
            // The multiplier has 31 bits.
            int shift = Math.getExponent(real(in) / real(out)) + 1;
            BigDecimal multiplier = BigDecimal.valueOf(Math.round(Math.scalb(real(in) / real(out), 31 - shift)))
                    .divide(BigDecimal.valueOf(1L << (31 - shift)));
            BigDecimal exact = multiplier.multiply(BigDecimal.valueOf(input[i] - 3));
            BigDecimal half = new BigDecimal("0.5");
            long rounded = rounding.equals("UPWARD")
                    ? exact.add(half).setScale(0, RoundingMode.FLOOR).longValueExact()
                    : exact.setScale(0, RoundingMode.HALF_UP).longValueExact();
            halves += exact.remainder(BigDecimal.ONE).abs().compareTo(half) == 0 ? 1 : 0;
            assertThat(result[i]).isEqualTo((byte) Math.max(-128, Math.min(127, rounded - 5)));
        }
        assertThat(halves > 100).isEqualTo(in.equals("0.25f"));
        assertComesBack(function);
    }

    /** What follows the line that begins the metadata. */
    private static String metadata(String text) {
        String begin = "#[metadata]\n";
        return text.substring(text.indexOf(begin) + begin.length());
    }

    private static double real(String literal) {
        return Float.parseFloat(literal);
    }

    @Test
    void whatTvmLeavesToItsConfigurationIsItsDefault() {
        Function function = read("""
            def @main(%x: Tensor[(1, 8), int8]) {
              qnn.requantize(%x, 0.1f, 0, 0.2f, 0, out_dtype="int8")
            }
            """);

        assertThat(RelayPrinter.print(function)).contains("rounding=\"UPWARD\", compute_dtype=\"int64\"");
    }

    @Test
    void sumsRoundEachSideUpward() {
        Function function = read("""
            def @main(%x: Tensor[(1, 200), int8]) {
              qnn.add(%x, %x, 0.25f, 0, 0.75f, 10, 0.5f, 4)
            }
            """);
        byte[] input = bytes(200);
        byte[] result = run(function, input);

        for (int i = 0; i < input.length; i++) {
            long sum = Math.floorDiv(input[i] + 1, 2) + (long) Math.floor((input[i] - 10) * 1.5 + 0.5) + 4;
            assertThat(result[i]).isEqualTo((byte) Math.max(-128, Math.min(127, sum)));
        }
        assertComesBack(function);
    }

    @Test
    void averagesOfCastIntegersAreTruncated() {
        Function function = read("""
            def @main(%x: Tensor[(1, 4, 4, 3), int8]) -> Tensor[(1, 2, 2, 3), int8] {
              %0 = cast(%x, dtype="int32") /* ty=Tensor[(1, 4, 4, 3), int32] */;
              %1 = nn.avg_pool2d(%0, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0], layout="NHWC");
              cast(%1, dtype="int8")
            }
            """);
        byte[] input = bytes(48);
        byte[] result = run(function, input);

        for (int i = 0; i < result.length; i++) {
            int at = i / 6 * 24 + i / 3 % 2 * 6 + i % 3;
            int sum = input[at] + input[at + 3] + input[at + 12] + input[at + 15];
            assertThat(result[i]).isEqualTo((byte) (sum / 4));
        }
        assertThat(operators(function)).containsExactly("nn.avg_pool2d");
        assertComesBack(function);
    }

    /** The same network with data and kernels in other orders, its input being one pixel or of one channel. */
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

    @Test
    void callsMayBeNestedAndConstantsComputed() {
        param("w", DType.INT8, 8, 3);
        Function function = read("""
            def @main(%x: Tensor[(1, 2, 2, 2), int8], %w: Tensor[(8, 3), int8]) {
              let %y: Tensor[(1, 8), int8] = squeeze(reshape(%x, newshape=[0, 1, -1]), axis=[1]);
              %0 = qnn.dense(%y, transpose(%w, axes=[1, 0]), 0, 0, 0.1f, 0.1f, units=3);
              qnn.requantize(nn.bias_add(%0, multiply(add(meta[relay.Constant][0], 1), 2)), 0.01f, 0, 0.5f, 0, out_dtype="int8")
            }
            """ + "#[metadata]\n" + metadata(RelayPrinter.astext(Texts.biased())));

        Binding bias = function.bindings().stream()
                .filter(b -> b.op().name().equals("nn.bias_add"))
                .findFirst()
                .orElseThrow();
        assertThat(IntStream.range(0, 3).mapToObj(i -> bias.constant(1).integer(i)))
                .containsExactly(22L, 42L, 62L);
    }

    @Test
    void openDimensionsAreGivenByTheUser() {
        String text =
                "def @main(%x: Tensor[(?, 4, ?), float32]) -> Tensor[(?, 4, ?), float32] {\n  nn.softmax(%x)\n}\n";

        assertThatThrownBy(() -> read(text))
                .hasMessageContaining("m.relay:1:11")
                .hasMessageContaining("the input %x has dimensions that are known only at run time: ?,4,?")
                .hasMessageContaining("Set kiln.inputShapes=x:?,4,?");
        assertThat(read(text, InputShapes.parse("x:1,4,7"))
                        .params()
                        .get(0)
                        .type()
                        .text())
                .isEqualTo("Tensor[(1, 4, 7), float32]");
        assertThatThrownBy(() -> read(text, InputShapes.parse("x:4,7;z:1")))
                .hasMessageContaining("rank 3: ?,4,?")
                .hasMessageContaining("kiln.inputShapes names `z`, which is no input");
    }

    @Test
    void aFunctionOfTheUsersMayReadSeveralComputedValues() {
        Function function = RelayFrontend.read(Bytes.ofText("""
            def @main(%a: Tensor[(4), float32], %b: Tensor[(4), float32]) {
              tfl.custom(%a, %b, code="MyOp", function="my_op", header="", inputs=2, outputs=1, shape=[4], out_dtype="float32")
            }
            """), "m.relay", Optional.empty(), "m.params", "default");
        assertThat(function.bindings().get(0).args()).containsExactly(new Arg.Ref(0), new Arg.Ref(1));
    }
}
