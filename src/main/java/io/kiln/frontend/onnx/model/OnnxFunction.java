// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.model;

import java.util.List;
import java.util.Map;

/**
 * A function of a model: an operator defined by nodes.
 *
 * @param domain its domain
 * @param name name of the operator
 * @param inputs names of its inputs
 * @param outputs names of its outputs
 * @param defaults values of attributes that a call leaves out
 * @param nodes operators in execution order
 * @param opsets versions of the domains that it uses
 */
public record OnnxFunction(
        String domain,
        String name,
        List<String> inputs,
        List<String> outputs,
        Map<String, OnnxAttribute> defaults,
        List<OnnxNode> nodes,
        Opsets opsets) {
    public OnnxFunction {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
        defaults = Map.copyOf(defaults);
        nodes = List.copyOf(nodes);
    }
}
