// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.quantize.graph.Node;
import java.util.List;
import java.util.Optional;

/**
 * A node with its formats.
 *
 * @param node the node
 * @param precision its arithmetic
 * @param data the format in which it reads each of its {@link Node#data}
 * @param output the format of its result
 * @param constants a layer's constants in integers; empty for other operators and for float
 * @param filter those of a filter with a state, likewise
 * @param recurrent those of a long short-term memory layer, likewise
 * @param reason why its arithmetic is float; empty if it is not, or if its numbers never were floats
 */
public record PlannedNode(
        Node node,
        Precision precision,
        List<Format> data,
        Format output,
        Optional<LayerConstants> constants,
        Optional<FilterConstants> filter,
        Optional<RecurrentConstants> recurrent,
        Optional<String> reason) {
    public PlannedNode {
        data = List.copyOf(data);
    }
}
