// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.base.Bytes;
import io.kiln.ir.Function;
import io.kiln.quantize.graph.Node;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A quantized network: which operator computes in which numbers.
 *
 * @param function the float network
 * @param nodes its operators in execution order
 * @param border the format of each model input by its id, and of each model output
 */
public record Plan(Function function, List<PlannedNode> nodes, Border border) {
    public Plan {
        nodes = List.copyOf(nodes);
    }

    /**
     * Formats at the model's border.
     *
     * @param inputs by the id of the parameter
     * @param outputs in the order of the results
     */
    public record Border(Map<Integer, Format> inputs, List<Format> outputs) {
        public Border {
            inputs = Map.copyOf(inputs);
            outputs = List.copyOf(outputs);
        }
    }

    /**
     * A node with its formats.
     *
     * @param precision its arithmetic
     * @param data the format in which it reads each of its {@link Node#data}
     * @param output the format of its result
     * @param constants a layer's constants in integers; empty for other operators and for float
     * @param stateful those of an operator with a state
     * @param reason why its arithmetic is float; empty if it is not, or if its numbers never were floats
     */
    public record PlannedNode(
            Node node,
            Precision precision,
            List<Format> data,
            Format output,
            Optional<QuantizedConstants.LayerConstants> constants,
            Stateful stateful,
            Optional<String> reason) {
        /**
         * Constants of operators with a state, in integers; empty for other operators and for float.
         *
         * @param filter those of a filter
         * @param recurrent those of a long short-term memory layer
         */
        public record Stateful(
                Optional<QuantizedConstants.FilterConstants> filter,
                Optional<QuantizedConstants.RecurrentConstants> recurrent) {
            static final Stateful NONE = new Stateful(Optional.empty(), Optional.empty());
        }

        public PlannedNode {
            data = List.copyOf(data);
        }
    }

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
}
