// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.IntegerForm;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Arg;
import io.kiln.ir.type.Shape;
import java.util.List;
import java.util.Optional;

/** {@code DequantizeLinear}: {@code (x - zeroPoint) * scale}, with one scale or one for each element of an axis. */
final class DequantizeLinearImporter implements OnnxImporter {
    @Override
    public void emit(NodeContext node) {
        ElementType type = node.element(0);
        int rank = node.shape(0).rank();
        node.require(type.held().filter(DType::isInteger).isPresent(), "its elements are " + type.text(), "integers");
        node.require(node.attributes().whole("block_size", 0) == 0, "it has a scale for each block", "no block_size");
        int axis = rank == 0 ? 0 : node.axis(node.attributes().whole("axis", rank == 1 ? 0 : 1), rank);
        if (!Parameters.areConstant(node, 1, 2)) {
            node.finish(0, computed(node, axis), ElementType.FLOAT);
            return;
        }
        ElementQuantization by = Parameters.read(node, 1, 2, axis, type);
        boolean isWord = type == ElementType.INT32;
        if (by.isOfBytes() && by.isPerTensor()) {
            Arg bytes = QuantizedBytes.of(node, node.input(0));
            node.finish(0, QuantizedBytes.dequantized(node, new IntegerForm.Dequantized(bytes, by)));
        } else if (by.isOfBytes() || isWord) {
            Arg integers = isWord ? node.arg(0) : QuantizedBytes.of(node, node.input(0));
            node.finish(
                    0,
                    new OnnxValue(
                            computed(node, axis),
                            ElementType.FLOAT,
                            Optional.of(new IntegerForm.Dequantized(integers, by))));
        } else {
            node.finish(0, computed(node, axis), ElementType.FLOAT);
        }
    }

    /** The definition, for parameters of any form. */
    private static Arg computed(NodeContext node, int axis) {
        Expressions e = new Expressions(node);
        Arg value = e.cast(node.arg(0), DType.FLOAT32);
        if (node.has(2)) {
            value = e.subtract(value, e.cast(spread(node, e, 2, axis), DType.FLOAT32));
        }
        return e.multiply(value, spread(node, e, 1, axis));
    }

    /** A scale or zero point in dimensions that broadcast over the data. */
    static Arg spread(NodeContext node, Expressions e, int index, int axis) {
        Shape data = node.shape(0);
        List<Integer> dims = Parameters.dims(node.shape(index), data, axis)
                .orElseThrow(() -> node.failure(
                        "its parameters " + node.shape(index).text() + " do not fit its data " + data.text(),
                        "one, or one for each element of axis " + axis));
        return e.reshape(node.arg(index), dims);
    }
}
