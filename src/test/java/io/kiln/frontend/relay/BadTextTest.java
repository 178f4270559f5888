// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.ir.Origin;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages for texts that are wrong. */
class BadTextTest {
    private static final int DEEP = 1_000_000;

    @Test
    void everyMistakeIsListedWithItsPlace() {
        String text = """
            def @main(%x: Tensor[(1, 8), float32]) -> Tensor[(1, 4), float32] {
              %0 = nn.prelu(%x);
              %1 = add(%x, %nowhere);
              %1 = contrib.magic(%0, nn.prelu(%x), depth=3);
              %2 = reshape(%x, newshape=[2, 4], fast=True);
              %3 = reshape(%x newshape=[2, 4]);
              %4 = nn.softmax(%x, axis=-1);
              %4
            }
            """;

        assertThat(problems(text))
                .extracting(p -> p.where() + " " + p.what())
                .containsExactlyInAnyOrder(
                        "m.relay:6:19 `newshape` is not expected here",
                        "m.relay:2:8 operator nn.prelu is not supported",
                        "m.relay:3:16 %nowhere is not defined",
                        "m.relay:4:8 operator contrib.magic is not supported",
                        "m.relay:4:26 operator nn.prelu is not supported",
                        "m.relay:4:3 %1 is defined twice",
                        "m.relay:5:37 reshape has an attribute `fast`, which is not supported",
                        "m.relay:8:3 the result is Tensor[(1, 8), float32]");
        assertThat(problems(text))
                .filteredOn(p -> p.what().contains("nn.prelu"))
                .allSatisfy(p -> assertThat(p.expected()).contains("qnn.conv2d", "tfl.requantize"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "units=2 | units=0 | units of qnn.dense is wrong",
                "units=2 | units=3 | weight (2, 8) does not fit",
                "units=2 | units=2, units=2 | twice",
                "axis=1 | axis=0 | axis 0 is not the last",
                "axis=1 | axis=3 | axis 3 is not one of",
                "-6 | 31 | shift of tfl.requantize is 31",
                "1073741824 | -5 | multiplier of tfl.requantize is -5",
                "0.25f | -0.25f | a scale of qnn.dense is not valid",
                "-128, 0 | -129, 0 | zero point of qnn.dense is -129",
                "-128, 0 | -128f, 0 | input zero point must be int32, not float32",
                "a_max=127f | a_max=128f | limits of clip are 3.0 and 128.0",
                "a_max=127f | a_max=2f | crossed",
                "a_max=127f | a_max=1e999f | `1e999f` is not a number of its type",
                "rounding=\"TFLITE\", | '' | tfl.requantize has no attribute rounding",
                "\"TFLITE\" | \"DOWNWARD\" | rounding of tfl.requantize is wrong",
                "\"0.0.5\" | \"0.0.6\" | version \"0.0.6\" is not supported",
                "@main | @main() { () } def @main | @main is defined twice",
                "%x: Tensor[(1, 8), int8] | %x: Tensor[(1, 8), float32] | data, float32, is not supported",
                "%x: Tensor[(1, 8), int8] | %x: Tensor[(1, ?), int8] | known only at run time",
                "%x: Tensor[(1, 8), int8] | %x: Tensor[(1, 8), float16] | element type `float16`",
                "%x: Tensor[(1, 8), int8] | %x: Tensor[(99999999, 99999999, 99999999), int8] | too large",
                "%x: Tensor[(1, 8), int8] | %x: Tensor[(0, 8), int8] | `0` is not a dimension",
                "%4\\n} | %4, | `,` is not expected here",
                "%4\\n} | (%4, %4)\\n} | the result is listed twice",
                "%4\\n} | %x\\n} | the result is an input or a constant",
                "%4\\n} | } | @main has no result",
                "[\"y\"] | [\"y\", \"z\"] | output_tensor_names has 2 entries",
                "%x: Tensor[(1, 8), int8] | %x: Tensor[(1, 8), int8], Compiler=\"cmsis-nn\" | code generator cmsis-nn",
                "%4 = | %4 = fn | `fn` is not supported",
                "%4 = | /* | the comment does not end",
                "\"y\" | \"y | the string does not end on its line"
            })
    void aSpoiledTextSaysWhatIsWrong(String from, String to, String message) {
        String text = Texts.WITH_PARAMETERS;
        String pattern = from.replace("\\n", "\n");
        assertThat(text).contains(pattern);

        assertThat(problems(text.replaceFirst(Pattern.quote(pattern), to.replace("\\n", "\n"))))
                .anySatisfy(p -> {
                    assertThat(p.text()).contains(message);
                    assertThat(p.where()).matches("m\\.relay:[0-9]+:[0-9]+");
                });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0.5f, 0, 0.25f | 0f, 0, 0.25f | a scale of qnn.requantize is not valid",
                "0.5f, 0, 0.25f | -0.5f, 0, 0.25f | a scale of qnn.requantize is not valid",
                "0.5f, 0, 0.25f | 1e999f, 0, 0.25f | `1e999f` is not a number of its type",
                "0.5f, 0, 0.25f | 0.5f, 0, 1e-44f | times the output's",
                "0.5f, 0, 0.25f | 0.5f, 200, 0.25f | a zero point of qnn.requantize is 200",
                "0.5f, 0, 0.25f | %s, 0, 0.25f | argument 2 of qnn.requantize is not constant",
                "0.5f, 0, 0.25f | meta[relay.Constant][0], 0, 0.25f | the data of the constants is missing",
                "0.5f, 0, 0.25f | %9, 0, 0.25f | %9 is not defined",
                "\"UPWARD\" | \"DOWNWARD\" | rounding of qnn.requantize is wrong",
                "out_dtype=\"int8\" | compute_dtype=\"float32\", out_dtype=\"int8\" | compute_dtype of qnn.requantize"
                        + " is wrong",
                "out_dtype=\"int8\" | out_dtype=\"uint8\" | out_dtype of qnn.requantize is wrong",
                "%0 = nn.relu(%x); | %0 = nn.pad(%x, 0, pad_width=[[0, 0], [0, 0], [1]]); | the attribute pad_width of"
                        + " nn.pad is wrong",
                "%0 = nn.relu(%x); | %0 = nn.avg_pool2d(%x, pool_size=[2, 2]); | is NCHW: it would have to be"
                        + " transposed",
                "%0 = nn.relu(%x); | %0 = nn.avg_pool2d(%x, pool_size=[2, 2], layout=\"NHWC\"); | would overflow in"
                        + " TVM",
                "%0 = nn.relu(%x); | %0 = transpose(%x, axes=[0, 2, 1, 2]); | are not all those of",
                "%0 = nn.relu(%x); | %0 = reshape(%x, newshape=[-1, -1]); | newshape [-1, -1] does not fit",
                "%0 = nn.relu(%x); | %0 = reshape(%x, newshape=[7, -1]); | newshape [7, -1] does not fit",
                "def @main | def @helper(%y: int8) { nn.relu(%y) } def @main | @helper is never called"
            })
    void aSpoiledTextOfTvmSaysWhatIsWrong(String from, String to, String message) {
        String text = """
            def @main(%x: Tensor[(1, 2, 4, 6), int8], %s: Tensor[(1), float32]) {
              %0 = nn.relu(%x);
              %1 = qnn.requantize(%0, 0.5f, 0, 0.25f, 1, rounding="UPWARD", out_dtype="int8");
              %1
            }
            """;
        assertThat(problems(text)).isEmpty();
        assertThat(text).contains(from);

        assertThat(problems(text.replace(from, to))).anySatisfy(p -> {
            assertThat(p.text()).contains(message);
            assertThat(p.where()).matches("m\\.relay:[0-9]+:[0-9]+");
        });
    }

    @ParameterizedTest
    @CsvSource({"max,uint32", "min,uint64", "argmax,uint32", "argmin,uint64"})
    void orderOfUnsignedNumbersBeyondInt32IsNotTakenForThatOfSignedOnes(String operator, String dtype) {
        String text = """
            def @main(%%x: Tensor[(1, 8), %s]) {
              %s(%%x, axis=[1])
            }
            """;

        assertThat(problems(String.format(Locale.ROOT, text, dtype, operator)))
                .anySatisfy(p -> assertThat(p.text()).contains(operator + " of " + dtype + " is not supported"));
        assertThat(problems(String.format(Locale.ROOT, text, "int32", operator)))
                .isEmpty();
    }

    @Test
    void scalesForOtherChannelsAreRefused() {
        String text = """
            def @main(%x: Tensor[(1, 8), int8], %w: Tensor[(2, 8), int8]) {
              %0 = qnn.dense(%x, %w, 0, 0, 0.5f, 0.5f, units=2);
              qnn.requantize(%0, %w, 0, 0.5f, 0, axis=1, out_dtype="int8")
            }
            """;
        assertThat(problems(text))
                .extracting(Problem::text)
                .anyMatch(p -> p.contains("m.relay:3:3") && p.contains("input scale must be float32, not int8"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"nn.softmax(", "(", "[", "/*", "{", "meta[", "let %x = ", "clip(%x, a=["})
    void depthIsRefusedWithoutExhaustingTheStack(String opening) {
        String text = "def @main(%x: int8) {\n  %0 = " + opening.repeat(DEEP) + ";\n  %0\n}\n";

        assertThat(problems(text)).isNotEmpty().hasSizeLessThanOrEqualTo(1001);
        assertThat(problems("def @main(%x: int8) {\n  %0 = clip(%x, a=" + "[".repeat(DEEP) + ");\n  %0\n}\n"))
                .extracting(Problem::what)
                .contains("the text is nested more than 100 deep");
    }

    @Test
    void aBrokenMetadataSectionSaysWhere() {
        String whole = Texts.WHOLE;
        assertThat(problems(whole.replace("\"root\": 1", "\"root\": " + "[".repeat(DEEP))))
                .anySatisfy(p -> assertThat(p.text()).contains("metadata section is not JSON"));
        assertThat(problems(whole.replace("\"root\": 1", "\"root\": 99")))
                .anySatisfy(p -> assertThat(p.text()).contains("missing node 99"));
        assertThat(problems(whole.replaceAll("\"P6G[A-Za-z0-9+/]{40}", "\"P6G")))
                .anySatisfy(p -> assertThat(p.text()).contains("metadata section does not hold what it says"));
        assertThat(problems(whole.substring(0, whole.indexOf("#[metadata]"))))
                .extracting(Problem::what)
                .containsExactly("the data of the constants is missing");
        assertThat(problems(whole.replace("[relay.Constant][0]", "[relay.Constant][5]")))
                .extracting(Problem::what)
                .containsExactly("there is no constant 5 in the metadata section");
    }

    @Test
    void problemsHaveAnEnd() {
        String lines = IntStream.range(0, 50_000)
                .mapToObj(i -> "  %" + i + " = magic.op" + i + "(%x);\n")
                .collect(Collectors.joining());

        assertThat(problems("def @main(%x: int8) {\n" + lines + "  %0\n}\n")).hasSize(1001);
    }

    @Test
    void parametersThatDoNotFitAreListed() {
        String text = Texts.WITH_PARAMETERS.replace("%w: Tensor[(2, 8), int8]", "%v: Tensor[(2, 8), int8]");
        assertThatThrownBy(() -> read(text))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("m.params: @main has no parameter %w")
                .hasMessageContaining("%w is not defined");
        assertThatThrownBy(() -> read(Texts.WITH_PARAMETERS.replace("%w: Tensor[(2, 8)", "%w: Tensor[(2, 9)")))
                .hasMessageContaining("%w is Tensor[(2, 9), int8], but in m.params [2, 8] of int8");
    }

    @Test
    void withoutAnnotationsTheTextIsItsOwnOrigin() {
        assertThat(Texts.function().bindings().get(1).origin())
                .isEqualTo(new Origin("dense.relay", 1, "tfl.requantize", "1"));
    }

    @Test
    void aFileThatIsNotThereIsNamed(@TempDir Path folder) {
        assertThatThrownBy(() -> RelayFrontend.read(folder.resolve("no.relay"), "default"))
                .hasMessageContaining("no.relay: the file does not exist");
        assertThatThrownBy(() -> RelayFrontend.read(folder, "default")).hasMessageContaining("this is a directory");
    }

    private static List<Problem> problems(String text) {
        try {
            read(text);
            return List.of();
        } catch (KilnException e) {
            return e.problems();
        }
    }

    private static void read(String text) {
        Optional<Bytes> params = text.contains("%w") ? Optional.of(Texts.params()) : Optional.empty();
        RelayFrontend.read(Bytes.ofText(text), "m.relay", params, "m.params", "default");
    }
}
