// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.IntegerForm.Limits;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.PairLookup;

/**
 * {@code QLinearAdd} and {@code QLinearMul} of ONNX Runtime: A, its scale and zero point, B and its, then those of the result. The order
 * of operations in single precision is that of MlasQLinearAdd and MlasQLinearMul with fused multiply-adds
 * (core/mlas/lib/qladd.cpp, qlmul.cpp); zero points are added before rounding.
 */
final class QLinearImporters {
    private static final int RESULT_SCALE = 6;

    private QLinearImporters() {}

    /** The sum: {@code a * A + (b * B + c)}, where c has all zero points. */
    static final OnnxImporter ADD = node -> emit(node, (x, y, lhs, rhs, to) -> {
        float a = lhs.scale() / to.scale();
        float b = rhs.scale() / to.scale();
        float c = inModel(to) - Math.fma(a, inModel(lhs), b * inModel(rhs));
        return Math.rint(Math.fma(a, (float) (x + sign(lhs)), Math.fma(b, (float) (y + sign(rhs)), c))) - sign(to);
    });

    /** The product: {@code A * B * (a * b / c)}. */
    static final OnnxImporter MULTIPLY = node -> emit(node, (x, y, lhs, rhs, to) -> {
        float scale = lhs.scale() * rhs.scale() / to.scale();
        float product = (float) (x - lhs.zeroPoint()) * (y - rhs.zeroPoint());
        return Math.rint(product * scale + inModel(to)) - sign(to);
    });

    /** The result of two bytes as int8, before it saturates. */
    @FunctionalInterface
    private interface Formula {
        double of(int x, int y, ElementQuantization lhs, ElementQuantization rhs, ElementQuantization to);
    }

    private static void emit(NodeContext node, Formula formula) {
        ElementType type = node.element(0);
        node.require(
                node.element(3) == type,
                "it mixes " + type.text() + " and " + node.element(3).text(),
                "one type");
        ElementQuantization lhs = Parameters.readOne(node, 1, 2, type);
        ElementQuantization rhs = Parameters.readOne(node, 4, 5, type);
        ElementQuantization to = Parameters.readOne(node, RESULT_SCALE, RESULT_SCALE + 1, type);
        PairForm pair = new PairForm(
                new Dequantized(QuantizedBytes.of(node, node.input(0)), lhs),
                new Dequantized(QuantizedBytes.of(node, node.input(3)), rhs));
        PairLookup kind = pair.kind(node.node().operator(), to);
        Arg bytes = pair.emit(node, kind, Limits.NONE, (x, y) -> formula.of(x, y, lhs, rhs, to));
        node.finish(0, QuantizedBytes.value(node, bytes, type));
    }

    /** The byte in the model minus the int8 that holds it. */
    private static int sign(ElementQuantization by) {
        return by.type() == ElementType.UINT8 ? -Byte.MIN_VALUE : 0;
    }

    /** The zero point in the model. */
    private static float inModel(ElementQuantization by) {
        return by.zeroPoint() + sign(by);
    }
}
