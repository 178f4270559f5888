// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.IntegerForm.Limits;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.PairLookup;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;

/**
 * Functions of two tensors of bytes, element by element.
 *
 * @param lhs left operand
 * @param rhs right operand
 */
record PairForm(Dequantized lhs, Dequantized rhs) {
    /** An operation and a table of its results, by the bytes of the left and the right operand. */
    @FunctionalInterface
    interface Results {
        /** The byte, before limits, of two bytes. */
        double of(int x, int y);
    }

    /** Emits the table of a function. */
    Arg emit(NodeContext node, PairLookup kind, Limits limits, Results results) {
        byte[] table = new byte[PairLookup.SIZE * PairLookup.SIZE];
        for (int i = 0; i < table.length; i++) {
            double result = results.of((i >> 8) + Byte.MIN_VALUE, (i & 255) + Byte.MIN_VALUE);
            table[i] = (byte) Math.max(limits.low(), Math.min(limits.high(), result));
        }
        Constant constant = new Constant(
                "", new TensorType(Shape.of(PairLookup.SIZE, PairLookup.SIZE), DType.INT8), Bytes.wrap(table));
        return node.emit(kind, lhs.integers(), rhs.integers(), constant);
    }

    /** The operation of an operator on both tensors, so that arithmetic for it can be looked for. */
    PairLookup kind(String operator, ElementQuantization to) {
        double left = (double) lhs.by().scale() / to.scale();
        double right = (double) rhs.by().scale() / to.scale();
        int leftZero = lhs.by().zeroPoint();
        int rightZero = rhs.by().zeroPoint();
        return switch (operator) {
            case "Add", "Sum", "QLinearAdd" -> new PairLookup(PairLookup.Kind.SUM, left, right, leftZero, rightZero);
            case "Mean" -> new PairLookup(PairLookup.Kind.SUM, left / 2, right / 2, leftZero, rightZero);
            case "Sub" -> new PairLookup(PairLookup.Kind.SUM, left, -right, leftZero, rightZero);
            case "Mul", "QLinearMul" ->
                new PairLookup(PairLookup.Kind.PRODUCT, left * rhs.by().scale(), 0, leftZero, rightZero);
            default -> new PairLookup();
        };
    }
}
