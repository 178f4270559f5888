// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Function;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.OwnModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the parser of TVM 0.16 takes (src/relay/parser): its words, its operators, and the attributes that each of them has. */
class TvmGrammarTest {
    private static final String CONV =
            "strides padding dilation groups channels kernel_size data_layout kernel_layout" + " out_layout out_dtype";
    private static final String POOL = "pool_size strides dilation padding layout out_layout ceil_mode";

    /** Attributes of relay.attrs.* by operator. */
    private static final Map<String, String> OPERATORS = Map.ofEntries(
            Map.entry("abs", ""),
            Map.entry("add", ""),
            Map.entry("cast", "dtype"),
            Map.entry("clip", "a_min a_max"),
            Map.entry("concatenate", "axis"),
            Map.entry("nn.avg_pool2d", POOL + " count_include_pad"),
            Map.entry("nn.bias_add", "axis"),
            Map.entry("nn.conv2d", CONV),
            Map.entry("nn.conv2d_transpose", CONV + " output_padding"),
            Map.entry("nn.dense", "units out_dtype"),
            Map.entry("nn.max_pool2d", POOL),
            Map.entry("nn.pad", "pad_width pad_mode"),
            Map.entry("nn.softmax", "axis"),
            Map.entry("qnn.conv2d", CONV),
            Map.entry("qnn.conv2d_transpose", CONV + " output_padding"),
            Map.entry("qnn.dense", "units out_dtype"),
            Map.entry("qnn.dequantize", "out_dtype axis"),
            Map.entry("qnn.quantize", "out_dtype axis"),
            Map.entry("qnn.requantize", "axis rounding compute_dtype out_dtype"),
            Map.entry("ref", ""),
            Map.entry("ref_write", ""),
            Map.entry("reshape", "newshape allowzero"),
            Map.entry("strided_slice", "begin end strides slice_mode axes"),
            Map.entry("transpose", "axes"));

    private static final Set<String> KEYWORDS = Set.of(
            "let", "fn", "def", "if", "else", "type", "match", "extern", "free_var", "ref", "ref_read", "ref_write");

    private static final Pattern WORD = Pattern.compile(
            "\\s+|//[^\\n"
                    + "]*|/\\*.*?\\*/|\"[^\"]*\"|-?[0-9][-+0-9.eE]*(?:[if][0-9]*)?"
                    + "|%[0-9]+|[%@]?[A-Za-z_/][A-Za-z0-9_/]*(?:\\.[A-Za-z_/][A-Za-z0-9_/]*)*|meta\\[relay\\.Constant\\]|->|[(){}\\[\\]=:;,]",
            Pattern.DOTALL);
    private static final Pattern CALL = Pattern.compile("(?<![%@\\w.])([a-z_][\\w.]*)\\(");
    private static final Pattern ATTRIBUTE = Pattern.compile("(?<![%@\\w.])([a-z_]\\w*)=");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "kws_ref_model",
                "pretrainedResnet_quant",
                "trained_lstm_int8",
                "vww_96_float",
                "seanet_transpose_conv0",
                "seanet_strided_slice0",
                "seanet_pad0",
                "seanet_sub0"
            })
    @NeedsShared("golden")
    void itsParserTakesTheTextOfGoldenModels(String model) {
        takesTheText(TfliteFrontend.read(GoldenModels.model(model), "default"));
    }

    @ParameterizedTest
    @EnumSource(OwnModel.class)
    void itsParserTakesTheText(OwnModel model) {
        takesTheText(model.read());
    }

    private static void takesTheText(Function function) {
        String text = RelayPrinter.astext(function);
        int section = text.indexOf("\n#[metadata]\n");
        String program = text.substring(0, section < 0 ? text.length() : section);

        assertThat(program).startsWith("#[version = \"0.0.5\"]\n");
        List<String> words = words(program.substring(program.indexOf('\n')));
        assertThat(words)
                .filteredOn(w -> w.startsWith("%"))
                .allSatisfy(w -> assertThat(KEYWORDS).doesNotContain(w.substring(1)));
        program.lines().filter(line -> line.contains(" = ")).forEach(TvmGrammarTest::assertCalls);
        assertThat(program.contains(" tfl.")).isEqualTo(program.contains("import kiln_relay"));
    }

    /** The text is made of TVM's words from end to end. */
    private static List<String> words(String text) {
        Matcher word = WORD.matcher(text);
        List<String> words = new ArrayList<>();
        int at = 0;
        while (at < text.length()) {
            assertThat(word.find(at) && word.start() == at)
                    .as(text.substring(at))
                    .isTrue();
            words.add(word.group());
            at = word.end();
        }
        return words;
    }

    /** A line has one call with attributes, and casts around and within it. */
    private static void assertCalls(String line) {
        String plain = line.replaceAll("/\\*.*?\\*/", "")
                .replaceAll("\"[^\"]*\"", "\"\"")
                .replaceFirst("^def .*", "");
        Set<String> allowed = new TreeSet<>();
        Matcher call = CALL.matcher(plain);
        boolean isForeign = false;
        while (call.find()) {
            String name = call.group(1);
            isForeign |= name.startsWith("tfl.");
            assertThat(name.startsWith("tfl.") || OPERATORS.containsKey(name))
                    .as(name)
                    .isTrue();
            allowed.addAll(List.of(OPERATORS.getOrDefault(name, "").split(" ")));
            assertThat(name.startsWith("tfl.")
                            && List.of(name.split("\\.")).stream().anyMatch(KEYWORDS::contains))
                    .as(name)
                    .isFalse();
        }
        Matcher attribute = ATTRIBUTE.matcher(plain);
        while (attribute.find()) {
            assertThat(isForeign || allowed.contains(attribute.group(1)))
                    .as(attribute.group(1) + " in " + plain)
                    .isTrue();
        }
        assertThat(line.contains("attrs_type_key=\"DictAttrs\"")).as(line).isEqualTo(isForeign);
        assertThat(line.contains("ty_shape=[") && line.contains("ty_dtype=\""))
                .as(line)
                .isEqualTo(isForeign);
    }
}
