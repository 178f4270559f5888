// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import static java.util.Map.entry;

import io.kiln.base.NearMiss;
import io.kiln.frontend.CustomOperator;
import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.Rule;
import io.kiln.ir.Operators;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.call.CustomCall;
import io.kiln.ir.op.call.If;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The rules of all operators by their names in the text. Attributes with a default in Relay may be absent.
 * Where TensorFlow Lite computes differently from TVM, {@code rounding="TFLITE"} selects its arithmetic.
 */
public final class Rules {
    /** Prefix of TVM operators that Kiln computes in another arithmetic. */
    private static final String OWN = "tfl.";

    private static final Map<String, Rule> BY_NAME = byName();

    /** Operators that TVM's pass SimplifyInference replaces. */
    private static final Set<String> SIMPLIFIED = Set.of(
            "nn.batch_norm", "nn.dropout", "nn.group_norm", "nn.instance_norm", "nn.l2_normalize", "nn.layer_norm");

    private Rules() {}

    /** The rules of operators whose text has several forms, and of others those that follow from their signatures. */
    private static Map<String, Rule> byName() {
        Map<String, Rule> rules = new HashMap<>();
        Stream.of(LayerRules.ALL, ElementwiseRules.ALL, MovementRules.ALL, ReductionRules.ALL, CustomCallRules.ALL)
                .forEach(rules::putAll);
        for (Signature<? extends Op> signature : Operators.ALL) {
            signature.reader().ifPresent(reader -> rules.putIfAbsent(signature.name(), Rule.of(reader)));
        }
        rules.put(If.SPELLED, rules.get(If.SIGNATURE.name()));
        return Map.copyOf(rules);
    }

    /** The rule of an operator; empty if it is not supported. */
    public static Optional<Rule> of(String name) {
        Optional<Rule> rule = Optional.ofNullable(BY_NAME.get(name));
        return rule.isEmpty() && name.startsWith(OWN) ? of(name.substring(OWN.length())) : rule;
    }

    /** All names, sorted. */
    public static SortedSet<String> names() {
        SortedSet<String> names = new TreeSet<>(BY_NAME.keySet());
        names.add(Split.NAME);
        return names;
    }

    /** What to do about an operator that is not supported. */
    public static String advice(String name) {
        if (SIMPLIFIED.contains(name)) {
            return "Run relay.transform.SimplifyInference() and FoldConstant() in TVM before you print the model: they replace "
                    + name + " by operators that are supported";
        }
        String nearest = NearMiss.didYouMean(name, names());
        return nearest.isEmpty() ? "Change the model so that it does not need this operator" : nearest;
    }

    /** Calls of the user's C functions. */
    private static final class CustomCallRules {
        private static final int MAX = Integer.MAX_VALUE;
        private static final int MAX_ARGUMENTS = 256;
        private static final Pattern ANY = Pattern.compile(".*", Pattern.DOTALL);

        static final Map<String, Rule> ALL = Map.ofEntries(entry("tfl.custom", Rule.of(CustomCallRules::call)));

        private CustomCallRules() {}

        private static Op call(Attributes a) {
            return new CustomCall(
                    a.text("code", ANY),
                    a.text("function", CustomOperator.FUNCTION),
                    a.text("header", CustomOperator.HEADER),
                    a.integer("inputs", 1, MAX_ARGUMENTS),
                    a.integer("outputs", 1, MAX_ARGUMENTS),
                    new TensorType(new Shape(a.integers("shape", 1, MAX)), a.dtype("out_dtype")),
                    a.truth("quantization", false),
                    a.integer("options_size", 0, MAX, -1));
        }
    }

    /** Layers of convolutional networks, and the rescaling of their sums. */
    private static final class LayerRules {
        static final Map<String, Rule> ALL = Map.ofEntries(
                entry("fixed_point_multiply", FixedPointRules::perTensor),
                entry("fixed_point_multiply_per_axis", FixedPointRules::perAxis),
                entry("nn.avg_pool2d", PoolRules::average),
                entry("nn.bias_add", SumRules::biasAdd),
                entry("nn.conv2d", ConvolutionRules::real),
                entry("nn.dense", DenseRules::real),
                entry("nn.global_avg_pool2d", PoolRules::globalAverage),
                entry("nn.max_pool2d", PoolRules::maximum),
                entry("nn.softmax", ArithmeticRules::softmax),
                entry("qnn.conv2d", ConvolutionRules::quantized),
                entry("qnn.dense", DenseRules::quantized),
                entry("qnn.requantize", ArithmeticRules::requantize));

        private LayerRules() {}
    }
}
