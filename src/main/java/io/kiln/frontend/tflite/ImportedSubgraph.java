// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.ir.Function;
import io.kiln.ir.Variable;
import java.util.Map;

/**
 * A subgraph as a function.
 *
 * @param resources the variables that it shares with other subgraphs, by their names in the file
 */
record ImportedSubgraph(Function function, Map<String, Variable> resources) {
    ImportedSubgraph {
        resources = Map.copyOf(resources);
    }
}
