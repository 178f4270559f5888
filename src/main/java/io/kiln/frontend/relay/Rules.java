// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.ir.op.Binary;
import io.kiln.ir.op.Reduce;
import io.kiln.ir.op.Unary;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The operators by their names in the text. What Relay gives a default for may be left out. Where TensorFlow Lite computes otherwise than
 * TVM, {@code rounding="TFLITE"} asks for it.
 */
final class Rules {
    private static final Map<String, Rule> BY_NAME = new HashMap<>(Map.ofEntries(
            Map.entry("add", SumRules::add),
            Map.entry("annotation.cast_hint", Rules::same),
            Map.entry("annotation.stop_fusion", Rules::same),
            Map.entry("argmax", call -> ReduceRules.index(call, true)),
            Map.entry("argmin", call -> ReduceRules.index(call, false)),
            Map.entry("broadcast_to", ElementRules::broadcast),
            Map.entry("cast", ElementRules::cast),
            Map.entry("clip", ArithmeticRules::clip),
            Map.entry("concatenate", MovementOperators::concatenate),
            Map.entry("expand_dims", ShapeRules::expand),
            Map.entry("fixed_point_multiply", FixedPointRules::perTensor),
            Map.entry("fixed_point_multiply_per_axis", FixedPointRules::perAxis),
            Map.entry("full", ElementRules::full),
            Map.entry("isfinite", ElementRules::isFinite),
            Map.entry("layout_transform", ShapeRules::layoutTransform),
            Map.entry("multiply", SumRules::multiply),
            Map.entry("negative", ElementRules::negative),
            Map.entry("nn.avg_pool2d", PoolRules::average),
            Map.entry("nn.batch_flatten", ShapeRules::flatten),
            Map.entry("nn.bias_add", SumRules::biasAdd),
            Map.entry("nn.conv2d", ConvolutionRules::real),
            Map.entry("nn.dense", DenseRules::real),
            Map.entry("nn.global_avg_pool2d", PoolRules::globalAverage),
            Map.entry("nn.max_pool2d", PoolRules::maximum),
            Map.entry("nn.pad", PoolRules::pad),
            Map.entry("nn.relu", ArithmeticRules::relu),
            Map.entry("nn.softmax", ArithmeticRules::softmax),
            Map.entry("ones", call -> ElementRules.filled(call, 1)),
            Map.entry("qnn.add", ArithmeticRules::addQuantized),
            Map.entry("qnn.conv2d", ConvolutionRules::quantized),
            Map.entry("qnn.dense", DenseRules::quantized),
            Map.entry("qnn.dequantize", ArithmeticRules::dequantize),
            Map.entry("qnn.quantize", ArithmeticRules::quantize),
            Map.entry("qnn.requantize", ArithmeticRules::requantize),
            Map.entry("reshape", ShapeRules::reshape),
            Map.entry("squeeze", ShapeRules::squeeze),
            Map.entry("subtract", SumRules::subtract),
            Map.entry("transpose", ShapeRules::transpose),
            Map.entry("where", ElementRules::where),
            Map.entry("zeros", call -> ElementRules.filled(call, 0))));

    static {
        for (Reduce.Kind kind : Reduce.Kind.values()) {
            BY_NAME.put(kind.text(), call -> ReduceRules.reduce(call, kind));
        }
        for (Binary.Kind kind : Binary.Kind.values()) {
            BY_NAME.putIfAbsent(new Binary(kind).name(), call -> ElementRules.binary(call, kind));
        }
        for (Unary.Kind kind : Unary.Kind.values()) {
            BY_NAME.putIfAbsent(new Unary(kind).name(), call -> ElementRules.unary(call, new Unary(kind), 1));
        }
    }

    /** What only tells TVM how to compile. */
    private static Value same(CallSite call) {
        call.attributes().ignoreOthers();
        return call.value(0);
    }

    /** Stands before the name of a TVM operator that Kiln computes in another arithmetic. */
    private static final String OWN = "tfl.";

    private Rules() {}

    /** What makes operators of a call; empty for an operator that is not supported. */
    static Optional<Rule> of(String name) {
        Optional<Rule> rule = Optional.ofNullable(BY_NAME.get(name))
                .or(() -> Operators.of(name)
                        .map(make -> call -> ArithmeticRules.plain(call, make.apply(call.attributes()))));
        return rule.isEmpty() && name.startsWith(OWN) ? of(name.substring(OWN.length())) : rule;
    }

    /** All names, for messages. */
    static String names() {
        TreeSet<String> names = new TreeSet<>(BY_NAME.keySet());
        names.addAll(Operators.names());
        names.add(Split.NAME);
        return String.join(", ", names);
    }
}
