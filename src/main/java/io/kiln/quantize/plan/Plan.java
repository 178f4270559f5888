// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.ir.Function;
import java.util.List;
import java.util.Map;

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
}
