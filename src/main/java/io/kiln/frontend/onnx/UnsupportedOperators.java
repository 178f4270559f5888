// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

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

    private static final Map<String, Refusal> BY_NAME = byName();

    private UnsupportedOperators() {}

    /** The reason for an operator. */
    static Refusal of(String domain, String name) {
        return BY_NAME.getOrDefault(name, domain.equals("com.microsoft") ? OF_RUNTIME : UNKNOWN);
    }

    private static Map<String, Refusal> byName() {
        Map<String, Refusal> all = new LinkedHashMap<>();
        put(
                all,
                new Refusal("handles strings", "Convert strings to numbers before the model"),
                List.of(
                        "StringNormalizer",
                        "TfIdfVectorizer",
                        "StringConcat",
                        "StringSplit",
                        "RegexFullMatch",
                        "CategoryMapper",
                        "CastMap",
                        "DictVectorizer"));
        put(
                all,
                new Refusal(
                        "decides between classes by support vectors, which is not supported",
                        "Train a classifier of trees or a linear one"),
                List.of("SVMClassifier"));
        put(
                all,
                new Refusal(
                        "handles sequences, whose lengths are known only when the model runs",
                        "Export the model with tensors only"),
                List.of(
                        "SequenceAt",
                        "SequenceConstruct",
                        "SequenceEmpty",
                        "SequenceErase",
                        "SequenceInsert",
                        "SequenceLength",
                        "SequenceMap",
                        "SplitToSequence",
                        "ConcatFromSequence",
                        "Optional",
                        "OptionalGetElement",
                        "OptionalHasElement"));
        put(
                all,
                new Refusal("computes random numbers", "Make the random numbers an input, or export for inference"),
                List.of(
                        "RandomNormal",
                        "RandomNormalLike",
                        "RandomUniform",
                        "RandomUniformLike",
                        "Multinomial",
                        "Bernoulli"));
        unfit(all);
        return Map.copyOf(all);
    }

    private static void unfit(Map<String, Refusal> all) {
        put(
                all,
                new Refusal("trains the model", "Export the model for inference"),
                List.of("Adagrad", "Adam", "Momentum", "Gradient", "GraphCall"));
        put(
                all,
                new Refusal(
                        "has a result whose shape depends on its data",
                        "End the model before it, and compute the rest in the application"),
                List.of("NonZero", "Unique", "NonMaxSuppression"));
    }

    private static void put(Map<String, Refusal> all, Refusal refusal, List<String> names) {
        names.forEach(name -> all.put(name, refusal));
    }
}
