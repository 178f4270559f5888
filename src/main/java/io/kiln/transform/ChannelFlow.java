// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Binding;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.Map;

/**
 * How an operator's output channels depend on its input channels. The channels of a value are the elements along its
 * last axis.
 */
sealed interface ChannelFlow {
    /** Every output channel is computed from all input channels of argument 0: convolutions and dense layers. */
    record Mixes() implements ChannelFlow {}

    /**
     * Output channel {@code o} is computed from one channel of each non-constant argument, {@code o / divisor %
     * modulus}: element-wise operators, pools, depthwise convolutions (divisor: outputs per input), and reshapes that
     * only concatenate pixels (modulus: channels of a pixel).
     */
    record Follows(int divisor, int modulus) implements ChannelFlow {
        int source(int output) {
            return output / divisor % modulus;
        }
    }

    /** Unknown; the channels are kept. */
    record Opaque() implements ChannelFlow {}

    /** The flow through a binding, given the types of all values. */
    static ChannelFlow of(Binding binding, Map<Integer, TensorType> types) {
        return ChannelRules.of(binding.op())
                .map(rule -> rule.flow(binding, types))
                .orElseGet(Opaque::new);
    }

    /** Number of channels: the last dimension, 1 for a scalar. */
    static int channels(Shape shape) {
        return shape.rank() == 0 ? 1 : shape.dim(-1);
    }
}
