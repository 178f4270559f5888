// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.operator;

import io.kiln.frontend.onnx.model.OnnxGraph;
import java.util.List;

/** Imports the bodies of control flow operators into the graph around them. */
public interface Bodies {
    /**
     * Imports a body once.
     *
     * @param body the body
     * @param inputs its inputs, in order
     * @param scope the graph around it
     * @return its outputs, in order
     * @throws io.kiln.base.KilnException with all errors of its nodes
     */
    List<OnnxValue> run(OnnxGraph body, List<OnnxValue> inputs, Scope scope);
}
