// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.elementwise;

import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.op.element.Unary;

/** An element-wise function that is an operator of the IR. */
record OnnxUnaryImporter(Unary.Kind kind) implements OnnxImporter {
    @Override
    public void emit(NodeContext node) {
        node.finish(node.emit(new Unary(kind), node.arg(0)));
    }
}
