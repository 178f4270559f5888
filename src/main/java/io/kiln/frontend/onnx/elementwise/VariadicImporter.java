// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.elementwise;

import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;

/**
 * A function of any number of inputs, from the first to the last.
 *
 * @param kind function of two
 * @param isMean whether the result is divided by the number of inputs
 */
record VariadicImporter(Binary.Kind kind, boolean isMean) implements OnnxImporter {
    @Override
    public void emit(NodeContext node) {
        Expressions e = new Expressions(node);
        Arg value = node.arg(0);
        for (int i = 1; i < node.inputs(); i++) {
            node.require(node.element(i) == node.element(0), "its inputs have several element types", "one");
            value = WiderElements.apply(e, kind, node.element(0), value, node.arg(i));
        }
        node.finish(isMean ? e.divide(value, e.number(node.inputs(), e.dtype(value))) : value);
    }
}
