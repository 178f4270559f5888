// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operator;

import io.kiln.ir.Function;
import io.kiln.ir.Variable;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A subgraph as a function.
 *
 * @param resources the variables shared with other subgraphs, by their names in the file
 * @param handles for each of its outputs, the variable whose handle it is; empty for a result
 */
public record ImportedSubgraph(Function function, Map<String, Variable> resources, List<Optional<String>> handles) {
    public ImportedSubgraph {
        resources = Map.copyOf(resources);
        handles = List.copyOf(handles);
    }
}
