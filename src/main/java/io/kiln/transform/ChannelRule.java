// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Binding;
import io.kiln.ir.type.TensorType;
import java.util.Map;
import java.util.function.IntFunction;

/** Facts about the channels of an operator's result. */
interface ChannelRule {
    /** How they depend on the arguments' channels. */
    ChannelFlow flow(Binding binding, Map<Integer, TensorType> types);

    /** The range of each channel; called only if the flow is known. */
    IntFunction<Range> ranges(Binding binding, ChannelRanges known);
}
