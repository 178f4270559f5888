// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.IntegerForm.Deferred;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.IntegerForm.Limits;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Lookups.TflLookup;
import java.util.List;
import java.util.Optional;

/**
 * A function of each element of one tensor of bytes, as a table. Functions of such functions are one table again, as is the product of a
 * tensor and its sigmoid.
 *
 * @param node where it is emitted
 * @param source the tensor of bytes
 * @param results the function's results for all bytes, in their order: real numbers or truth values
 */
record TableForm(NodeContext node, Dequantized source, Constant results) implements Deferred, ElementOperand {
    /** The numbers that bytes stand for. */
    static TableForm of(NodeContext node, Dequantized source) {
        return new TableForm(node, source, QuantizedForms.allReals(source.by()));
    }

    /** Whether it is the numbers that the bytes stand for. */
    boolean isPlain() {
        return results.equals(QuantizedForms.allReals(source.by()));
    }

    @Override
    public Sources sources() {
        return new Sources(List.of(source), List.of());
    }

    @Override
    public int nodes() {
        return 0;
    }

    @Override
    public Constant over(Grid grid) {
        return (Constant) node.take(results, grid.places(source), 0);
    }

    @Override
    public Optional<Arg> quantized(ElementQuantization to, Limits limits) {
        return Optional.of(QuantizedForms.lookup(node, source, QuantizedForms.table(results, to, limits)));
    }

    /** The truth values of all elements. */
    Arg truths() {
        byte[] table = new byte[TflLookup.SIZE];
        for (int i = 0; i < table.length; i++) {
            table[i] = (byte) results.integer(i);
        }
        return node.cast(QuantizedForms.lookup(node, source, table), DType.BOOL);
    }
}
