// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import static java.util.Map.entry;

import io.kiln.base.NearMiss;
import io.kiln.frontend.CustomOperator;
import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.CallSite.Rule;
import io.kiln.frontend.relay.value.Value;
import io.kiln.ir.Arg;
import io.kiln.ir.Operators;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.call.ControlFlow.If;
import io.kiln.ir.op.call.CustomCall;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
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
        Stream.of(LayerRules.ALL, ElementRules.ALL, MovementRules.ALL, ReductionRules.ALL, CustomCallRules.ALL)
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
            return "Run relay.transform.SimplifyInference() and FoldConstant() in TVM before you print the model: they"
                    + " replace "
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
                entry("fixed_point_multiply", ElementRules::perTensor),
                entry("fixed_point_multiply_per_axis", Rule.of(4, ElementRules::perAxis)),
                entry("nn.avg_pool2d", Rule.of(1, PoolRules::average)),
                entry("nn.bias_add", Rule.of(2, SumRules::biasAdd)),
                entry("nn.conv2d", Rule.of(2, ConvolutionRules::real)),
                entry("nn.dense", Rule.of(2, ConvolutionRules::realDense)),
                entry("nn.global_avg_pool2d", Rule.of(1, PoolRules::globalAverage)),
                entry("nn.max_pool2d", Rule.of(1, PoolRules::maximum)),
                entry("nn.softmax", Rule.of(1, ElementRules::softmax)),
                entry("qnn.conv2d", Rule.of(6, ConvolutionRules::quantized)),
                entry("qnn.dense", Rule.of(6, ConvolutionRules::quantizedDense)),
                entry("qnn.requantize", Rule.of(5, ElementRules::requantize)));

        private LayerRules() {}
    }

    /** Operators that reduce dimensions, or normalise along the last one. */
    private static final class ReductionRules {
        static final Map<String, Rule> ALL = all();

        private ReductionRules() {}

        private static Map<String, Rule> all() {
            Map<String, Rule> all = new HashMap<>();
            for (Reduce.Kind kind : Reduce.Kind.values()) {
                all.put(kind.text(), call -> reduce(call, kind));
            }
            all.put("argmax", call -> index(call, true));
            all.put("argmin", call -> index(call, false));
            return Map.copyOf(all);
        }

        /** {@code sum}, {@code mean}, {@code max}, {@code min}; without axes, over all dimensions. */
        private static Value reduce(CallSite call, Reduce.Kind kind) {
            call.arity(1);
            List<Integer> axes = axes(call);
            Op op = new Reduce(kind, axes, call.attributes().truth("keepdims", false));
            return call.compute(op, List.of(call.plain(0)));
        }

        /** {@code argmax}, {@code argmin}: along one axis; ties go to the first. */
        private static Value index(CallSite call, boolean largest) {
            call.arity(1);
            List<Integer> axes = axes(call);
            boolean keeps = call.attributes().truth("keepdims", false);
            if (axes.size() != 1) {
                throw new IllegalArgumentException("the axes " + axes + " are not one");
            }
            if (call.attributes().truth("select_last_index", false)) {
                throw new IllegalArgumentException("select_last_index is not supported");
            }
            Arg result = call.emit(new ArgReduce(largest, axes.get(0)), List.of(call.plain(0)));
            if (keeps) {
                Shape kept = call.value(0).type().shape().with(axes.get(0), 1);
                result = call.emit(new Reshape(kept), List.of(result));
            }
            return call.plain(result);
        }

        private static List<Integer> axes(CallSite call) {
            int rank = call.value(0).type().shape().rank();
            List<Integer> all = IntStream.range(0, rank).boxed().toList();
            List<Integer> given = call.attributes().integers("axis", -rank, Math.max(0, rank - 1), all).stream()
                    .map(axis -> axis < 0 ? axis + rank : axis)
                    .sorted()
                    .distinct()
                    .toList();
            boolean excludes = call.attributes().truth("exclude", false);
            return excludes ? all.stream().filter(axis -> !given.contains(axis)).toList() : given;
        }
    }
}
