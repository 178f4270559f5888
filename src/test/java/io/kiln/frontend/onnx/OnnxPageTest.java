// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.frontend.onnx.NodeImporter.OnnxOperators;
import io.kiln.frontend.onnx.NodeImporter.UnsupportedOperators;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page about ONNX names the operators that are imported. */
class OnnxPageTest {
    private static final Path OPERATORS = Path.of("src", "site", "markdown", "operators.md");

    /** The operators of version 28 of ONNX's own domain, and older ones that were removed. */
    private static final String OF_ONNX = """
        Abs Acos Acosh Add AffineGrid And ArgMax ArgMin Asin Asinh Atan Atanh Attention AveragePool BatchNormalization Bernoulli
        BitCast BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor BlackmanWindow Cast CastLike CausalConvWithState Ceil Celu
        CenterCropPad Clip Col2Im Compress Concat ConcatFromSequence Constant ConstantOfShape Conv ConvInteger ConvTranspose Cos
        Cosh CumProd CumSum DFT DeformConv DepthToSpace DequantizeLinear Det Div Dropout DynamicQuantizeLinear Einsum Elu Equal
        Erf Exp Expand EyeLike Flatten Floor GRU Gather GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalLpPool
        GlobalMaxPool Greater GreaterOrEqual GridSample GroupNormalization HammingWindow HannWindow HardSigmoid HardSwish
        Hardmax Identity If ImageDecoder InstanceNormalization IsInf IsNaN LRN LSTM LayerNormalization LeakyRelu Less
        LessOrEqual LinearAttention Log LogSoftmax Loop LpNormalization LpPool MatMul MatMulInteger Max MaxPool MaxRoiPool
        MaxUnpool Mean MeanVarianceNormalization MelWeightMatrix Min Mish Mod Mul Multinomial Neg NegativeLogLikelihoodLoss
        NonMaxSuppression NonZero Not OneHot Optional OptionalGetElement OptionalHasElement Or PRelu Pad Pow QLinearConv
        QLinearMatMul QuantizeLinear RMSNormalization RNN RandomNormal RandomNormalLike RandomUniform RandomUniformLike Range
        Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum
        ReduceSumSquare RegexFullMatch Relu Reshape Resize ReverseSequence RoiAlign RotaryEmbedding Round STFT Scan Scatter
        ScatterElements ScatterND Selu SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength
        SequenceMap Shape Shrink Sigmoid Sign Sin Sinh Size Slice Softmax SoftmaxCrossEntropyLoss Softplus Softsign
        SpaceToDepth Split SplitToSequence Sqrt Squeeze StringConcat StringNormalizer StringSplit Sub Sum SwiGLU Swish Tan Tanh
        TensorScatter TfIdfVectorizer ThresholdedRelu Tile TopK Transpose Trilu Unique Unsqueeze Upsample Where Xor
        """;

    @Test
    void theTableNamesEveryOperatorAndNoOther() throws IOException {
        String page = Files.readString(Path.of("src", "site", "markdown", "onnx.md"));
        int begin = page.indexOf("## Operators\n");
        String section = page.substring(begin, page.indexOf("\n## ", begin + 4));
        TreeSet<String> named = new TreeSet<>();
        Matcher cells = Pattern.compile("^\\| [^|]+ \\| (`[^|]+) \\|", Pattern.MULTILINE)
                .matcher(section);
        while (cells.find()) {
            Stream.of(cells.group(1).replace("`", "").split(" ", -1)).forEach(named::add);
        }
        assertThat(named).containsExactlyElementsOf(OnnxOperators.names());
    }

    @Test
    void thePageOfOperatorsListsWhatIsRefused() throws IOException {
        StringBuilder rows = new StringBuilder("\n| operators | reason | instead |\n|---|---|---|\n");
        UnsupportedOperators.byReasons()
                .forEach((refusal, names) -> rows.append("| ")
                        .append(names.stream().map(name -> "`" + name + "`").collect(Collectors.joining(" ")))
                        .append(" | ")
                        .append(refusal.reason())
                        .append(" | ")
                        .append(refusal.next())
                        .append(" |\n"));
        compare("OnnxPageTest", rows.toString());
    }

    @Test
    void thePageOfOperatorsListsFormsThatAreRefused() throws IOException {
        compare("RefusedForms", RefusedForms.rows());
    }

    /** Compares a part of the page of operators; {@code -Dkiln.onnx.write=true} writes it. */
    private static void compare(String name, String rows) throws IOException {
        String first = "<!-- begin of what " + name + " writes -->\n";
        String page = Files.readString(OPERATORS);
        int begin = page.indexOf(first) + first.length();
        int end = page.indexOf("<!-- end of what " + name + " writes -->");
        if (Boolean.getBoolean("kiln.onnx.write")) {
            Files.writeString(OPERATORS, page.substring(0, begin) + rows + page.substring(end));
        }
        assertThat(page.substring(begin, end)).isEqualTo(rows);
    }

    @Test
    void everyOperatorOfOnnxIsReadOrRefusedWithAReason() {
        Set<String> refused = UnsupportedOperators.byReasons().values().stream()
                .flatMap(List::stream)
                .collect(Collectors.toSet());
        assertThat(Stream.of(OF_ONNX.strip().split("\\s+", -1)))
                .allMatch(name -> OnnxOperators.find("", name).isPresent() ^ refused.contains(name));
        assertThat(refused).noneMatch(name -> OnnxOperators.find("", name).isPresent());
    }
}
