// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.model;

import java.util.List;

/**
 * A model file.
 *
 * @param file name of the file, for messages
 * @param opsets versions of the operator sets
 * @param graph the model
 * @param functions its functions
 */
public record OnnxModel(String file, Opsets opsets, OnnxGraph graph, List<OnnxFunction> functions) {
    public OnnxModel {
        functions = List.copyOf(functions);
    }
}
