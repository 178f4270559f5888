// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.base.Bytes;
import io.kiln.ir.Function;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A plan as a function in integers.
 *
 * @param plan what it was made from
 * @param values for each node's output in the plan, the id of the value in the function that holds it in the node's own format
 * @param file the network in the format {@code .tflite}; empty if TensorFlow Lite lacks an operator
 * @param missing names of the operators that TensorFlow Lite lacks
 */
public record QuantizedNetwork(
        Plan plan, Function function, Map<Integer, Integer> values, Optional<Bytes> file, List<String> missing) {
    public QuantizedNetwork {
        values = Map.copyOf(values);
        missing = List.copyOf(missing);
    }

    /** Makes functions of plans. */
    public interface Maker {
        /**
         * Makes a function.
         *
         * @throws io.kiln.base.KilnException if the scales of a layer are beyond the arithmetic of its operator
         */
        QuantizedNetwork make(Plan plan);
    }
}
