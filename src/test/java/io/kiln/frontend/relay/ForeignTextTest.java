// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.InputShapes;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.text.RelayPrinter;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Texts as TVM's frontends print them: defaults left out, several calls for one operator, TVM's rounding. */
class ForeignTextTest extends ForeignTexts {
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
                .hasMessageContaining("kiln.inputShapes names `z`, which is not an input");
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
