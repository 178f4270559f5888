// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The operators by their names in the text. What Relay gives a default for may be left out. Where TensorFlow Lite computes otherwise than
 * TVM, {@code rounding="TFLITE"} asks for it.
 */
final class Rules {
    private static final Map<String, Rule> BY_NAME = Map.ofEntries(
            Map.entry("add", ArithmeticRules::add),
            Map.entry("cast", PoolRules::cast),
            Map.entry("clip", ArithmeticRules::clip),
            Map.entry("concatenate", MovementOperators::concatenate),
            Map.entry("expand_dims", ShapeRules::expand),
            Map.entry("layout_transform", ShapeRules::layoutTransform),
            Map.entry("multiply", ArithmeticRules::multiply),
            Map.entry("nn.avg_pool2d", PoolRules::average),
            Map.entry("nn.batch_flatten", ShapeRules::flatten),
            Map.entry("nn.bias_add", DenseRules::bias),
            Map.entry("nn.conv2d", ConvolutionRules::real),
            Map.entry("nn.dense", DenseRules::real),
            Map.entry("nn.global_avg_pool2d", PoolRules::globalAverage),
            Map.entry("nn.max_pool2d", PoolRules::maximum),
            Map.entry("nn.pad", PoolRules::pad),
            Map.entry("nn.relu", ArithmeticRules::relu),
            Map.entry("nn.softmax", ArithmeticRules::softmax),
            Map.entry("qnn.add", ArithmeticRules::addQuantized),
            Map.entry("qnn.conv2d", ConvolutionRules::quantized),
            Map.entry("qnn.dense", DenseRules::quantized),
            Map.entry("qnn.dequantize", ArithmeticRules::dequantize),
            Map.entry("qnn.quantize", ArithmeticRules::quantize),
            Map.entry("qnn.requantize", ArithmeticRules::requantize),
            Map.entry("reshape", ShapeRules::reshape),
            Map.entry("squeeze", ShapeRules::squeeze),
            Map.entry("transpose", ShapeRules::transpose));

    private Rules() {}

    /** What makes operators of a call; empty for an operator that is not supported. */
    static Optional<Rule> of(String name) {
        return Optional.ofNullable(BY_NAME.get(name))
                .or(() -> Operators.of(name)
                        .map(make -> call -> ArithmeticRules.plain(call, make.apply(call.attributes()))));
    }

    /** All names, for messages. */
    static String names() {
        TreeSet<String> names = new TreeSet<>(BY_NAME.keySet());
        names.addAll(Operators.names());
        return String.join(", ", names);
    }
}
