// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import io.kiln.frontend.onnx.model.OnnxAttribute;
import io.kiln.frontend.onnx.model.OnnxGraph;
import io.kiln.frontend.onnx.model.OnnxNode;
import io.kiln.frontend.onnx.operator.Scope;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Fills in a call's attributes and inputs in the nodes of a function. */
final class FunctionBodies {
    private FunctionBodies() {}

    /**
     * A node of a function with the attributes of a call in place of references to them, and without inputs that the
     * call leaves out.
     *
     * @param given attributes of the call
     * @param scope values of the inputs that the call gives
     * @param formals names of the function's inputs
     */
    static OnnxNode bound(OnnxNode node, Map<String, OnnxAttribute> given, Scope scope, List<String> formals) {
        Map<String, OnnxAttribute> attributes = new HashMap<>();
        node.attributes().forEach((name, value) -> {
            if (!(value instanceof OnnxAttribute.Reference reference)) {
                attributes.put(
                        name, value instanceof OnnxAttribute.Body body ? bound(body, given, scope, formals) : value);
            } else if (given.containsKey(reference.name())) {
                attributes.put(name, given.get(reference.name()));
            }
        });
        List<String> inputs = node.inputs().stream()
                .map(name -> formals.contains(name) && scope.value(name).isEmpty() ? "" : name)
                .toList();
        return new OnnxNode(
                node.index(), node.name(), node.domain(), node.operator(), inputs, node.outputs(), attributes);
    }

    private static OnnxAttribute bound(
            OnnxAttribute.Body body, Map<String, OnnxAttribute> given, Scope scope, List<String> formals) {
        OnnxGraph graph = body.value();
        return new OnnxAttribute.Body(new OnnxGraph(
                graph.name(),
                graph.nodes().stream().map(n -> bound(n, given, scope, formals)).toList(),
                graph.initializers(),
                graph.inputs(),
                graph.outputs(),
                graph.values()));
    }
}
