// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.operator;

/** Converts one node to bindings of the IR. */
public interface OnnxImporter {
    /**
     * Emits bindings and sets the node's outputs, see {@link NodeContext#finish}.
     *
     * @throws io.kiln.base.KilnException with all errors and unsupported features of the node
     */
    void emit(NodeContext node);
}
