// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.model;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A graph: a model, or a body of a control flow operator.
 *
 * @param name its name
 * @param nodes operators in execution order
 * @param initializers constants by name
 * @param inputs inputs, without those that are initializers
 * @param outputs outputs
 * @param values stated types of other values, by name
 */
public record OnnxGraph(
        String name,
        List<OnnxNode> nodes,
        Map<String, OnnxTensor> initializers,
        List<OnnxValueInfo> inputs,
        List<OnnxValueInfo> outputs,
        Map<String, OnnxValueInfo> values) {
    public OnnxGraph {
        nodes = List.copyOf(nodes);
        initializers = Collections.unmodifiableMap(new LinkedHashMap<>(initializers));
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
        values = Map.copyOf(values);
    }
}
