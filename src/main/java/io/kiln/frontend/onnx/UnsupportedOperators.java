// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import io.kiln.frontend.onnx.operator.OnnxRegistration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Why operators are not imported, and what to export instead. */
final class UnsupportedOperators {
    /**
     * A reason and advice.
     *
     * @param reason the end of a sentence that begins with the operator
     * @param next what to do
     */
    record Refusal(String reason, String next) {}

    private static final Refusal UNKNOWN = new Refusal(
            "is not supported", "Export the model without it, for example from operators that it consists of");

    private static final Refusal OF_RUNTIME = new Refusal(
            "is an operator of ONNX Runtime that is not supported",
            "Save the model without ONNX Runtime's extended optimizations and fusions, so that it consists of ONNX's operators");

    private static final Map<Refusal, List<String>> BY_REASON = byReason();

    private UnsupportedOperators() {}

    /** The reason for an operator. */
    static Refusal of(String domain, String name) {
        return BY_REASON.entrySet().stream()
                .filter(entry -> entry.getValue().contains(name))
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(domain.equals(OnnxRegistration.MICROSOFT) ? OF_RUNTIME : UNKNOWN);
    }

    /** The operators of ONNX that are refused, by reason, for the documentation. */
    static Map<Refusal, List<String>> byReasons() {
        return BY_REASON;
    }

    private static Map<Refusal, List<String>> byReason() {
        Map<Refusal, List<String>> all = new LinkedHashMap<>();
        put(all, "handles strings", "Convert strings to numbers before the model", """
                CastMap CategoryMapper DictVectorizer RegexFullMatch StringConcat StringNormalizer StringSplit
                """);
        put(
                all,
                "handles sequences, whose lengths are known only when the model runs",
                "Export the model with tensors only: Split in place of SplitToSequence, Concat in place of ConcatFromSequence",
                """
                ConcatFromSequence Optional OptionalHasElement SequenceAt SequenceConstruct
                SequenceEmpty SequenceErase SequenceInsert SequenceLength SequenceMap SplitToSequence
                """);
        put(all, "computes random numbers", "Make the random numbers an input, or export for inference", """
                Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike
                """);
        put(all, "trains the model", "Export the model for inference", "Gradient GraphCall");
        put(
                all,
                "reads files of images",
                "Decode the image before the model, and make its pixels an input",
                "ImageDecoder");
        put(
                all,
                "is a recurrence of transformers that Kiln does not compute",
                "Export its function body: MatMul, Mul and Add in a Scan with the state as an input and an output",
                "CausalConvWithState LinearAttention");
        put(
                all,
                "is of a version of ONNX that is not released",
                "Export it as Swish and Mul, which it consists of",
                "SwiGLU");
        put(
                all,
                "selects elements at computed positions between others",
                "Use GridSample or RoiAlign in its place, or Conv without offsets",
                "DeformConv MaxRoiPool");
        put(
                all,
                "adds overlapping blocks",
                "Use ConvTranspose with constant weights of 0 and 1 in its place",
                "Col2Im");
        return Collections.unmodifiableMap(all);
    }

    private static void put(Map<Refusal, List<String>> all, String reason, String next, String names) {
        all.put(new Refusal(reason, next), List.of(names.strip().split("\\s+", -1)));
    }
}
