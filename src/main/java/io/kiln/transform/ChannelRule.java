// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Binding;
import io.kiln.ir.type.TensorType;
import java.util.Map;
import java.util.function.IntFunction;

/** What is known of the channels of an operator's result. */
interface ChannelRule {
    /** How they hang together with those of the arguments. */
    ChannelFlow flow(Binding binding, Map<Integer, TensorType> types);

    /** What each lies between; asked only where the flow is known. */
    IntFunction<Range> ranges(Binding binding, ChannelRanges known);
}
