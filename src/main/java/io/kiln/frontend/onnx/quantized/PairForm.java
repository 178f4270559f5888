// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.IntegerForm;
import io.kiln.frontend.onnx.operator.IntegerForm.Deferred;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.IntegerForm.Limits;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.PairLookup;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Functions of two tensors of bytes, element by element: the importer of the float operator computes the results of all pairs.
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

    private static final Set<String> FUNCTIONS = Set.of("Add", "Sub", "Mul", "Div", "Min", "Max", "PRelu");

    static Optional<IntegerForm> of(OnnxImporter importer, NodeContext node) {
        if (!FUNCTIONS.contains(node.node().operator()) || node.inputs() != 2) {
            return Optional.empty();
        }
        Optional<Dequantized> lhs = QuantizedForms.bytes(node, 0);
        Optional<Dequantized> rhs = QuantizedForms.bytes(node, 1);
        return lhs.isEmpty() || rhs.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        (Deferred) (to, limits) -> new PairForm(lhs.get(), rhs.get()).emit(importer, node, to, limits));
    }

    private Optional<Arg> emit(OnnxImporter importer, NodeContext node, ElementQuantization to, Limits limits) {
        Expressions e = new Expressions(node);
        Constant left = QuantizedForms.allReals(lhs.by());
        Constant right = QuantizedForms.allReals(rhs.by());
        NodeContext shadow = node.shadow(
                Map.of(
                        0, new OnnxValue(e.reshape(left, Shape.of(PairLookup.SIZE, 1)), ElementType.FLOAT),
                        1, new OnnxValue(e.reshape(right, Shape.of(1, PairLookup.SIZE)), ElementType.FLOAT)),
                Optional.empty());
        importer.emit(shadow);
        return shadow.output(0)
                .map(OnnxValue::arg)
                .filter(Constant.class::isInstance)
                .map(Constant.class::cast)
                .map(all -> emit(
                        node,
                        to,
                        limits,
                        (x, y) ->
                                quantized(to, all.real((x - Byte.MIN_VALUE) * PairLookup.SIZE + y - Byte.MIN_VALUE))));
    }

    private static int quantized(ElementQuantization to, float real) {
        return Float.isNaN(real) ? Byte.MIN_VALUE : to.quantize(real);
    }

    /** Emits the table of a function. */
    Arg emit(NodeContext node, ElementQuantization to, Limits limits, Results results) {
        byte[] table = new byte[PairLookup.SIZE * PairLookup.SIZE];
        for (int i = 0; i < table.length; i++) {
            double result = results.of((i >> 8) + Byte.MIN_VALUE, (i & 255) + Byte.MIN_VALUE);
            table[i] = (byte) Math.max(limits.low(), Math.min(limits.high(), result));
        }
        Constant constant = new Constant(
                "", new TensorType(Shape.of(PairLookup.SIZE, PairLookup.SIZE), DType.INT8), Bytes.wrap(table));
        return node.emit(kind(node.node().operator(), to), lhs.integers(), rhs.integers(), constant);
    }

    private PairLookup kind(String operator, ElementQuantization to) {
        double left = (double) lhs.by().scale() / to.scale();
        double right = (double) rhs.by().scale() / to.scale();
        int leftZero = lhs.by().zeroPoint();
        int rightZero = rhs.by().zeroPoint();
        return switch (operator) {
            case "Add", "QLinearAdd" -> new PairLookup(PairLookup.Kind.SUM, left, right, leftZero, rightZero);
            case "Sub" -> new PairLookup(PairLookup.Kind.SUM, left, -right, leftZero, rightZero);
            case "Mul", "QLinearMul" ->
                new PairLookup(PairLookup.Kind.PRODUCT, left * rhs.by().scale(), 0, leftZero, rightZero);
            default -> new PairLookup();
        };
    }
}
