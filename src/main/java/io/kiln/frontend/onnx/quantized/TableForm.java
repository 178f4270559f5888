// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.IntegerForm.Deferred;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.IntegerForm.Limits;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import java.util.Optional;

/**
 * A function of each element of one tensor of bytes, as a table. Functions of such functions are one table again, as is the product of a
 * tensor and its sigmoid.
 *
 * @param node where it is emitted
 * @param source the tensor of bytes
 * @param results the function's results for all bytes, in their order
 */
record TableForm(NodeContext node, Dequantized source, Constant results) implements Deferred {
    /** An input as a function of bytes; empty if it is none. */
    static Optional<TableForm> of(NodeContext node, int input) {
        return node.optional(input)
                .flatMap(value -> value.form())
                .filter(TableForm.class::isInstance)
                .map(TableForm.class::cast)
                .or(() -> QuantizedForms.bytes(node, input)
                        .map(data -> new TableForm(node, data, QuantizedForms.allReals(data.by()))));
    }

    /** Whether both are functions of the same tensor. */
    boolean isOfSame(TableForm other) {
        return source.equals(other.source);
    }

    @Override
    public Optional<Arg> quantized(ElementQuantization to, Limits limits) {
        return Optional.of(QuantizedForms.lookup(node, source, to, limits, results));
    }
}
