// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operator;

import io.kiln.ir.Function;
import io.kiln.ir.Variable;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A subgraph as a function.
 *
 * @param resources the variables shared with other subgraphs, by their names in the file, in the order of their first use
 * @param handles for each of its outputs, the variable whose handle it is; empty for a result
 */
public record ImportedSubgraph(Function function, Map<String, Variable> resources, List<Optional<String>> handles) {
    public ImportedSubgraph {
        resources = Collections.unmodifiableMap(new LinkedHashMap<>(resources));
        handles = List.copyOf(handles);
    }
}
