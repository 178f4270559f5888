// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import static java.util.Map.entry;

import io.kiln.frontend.relay.value.Rule;
import java.util.Map;

/** Layers of convolutional networks, and the rescaling of their sums. */
final class LayerRules {
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
