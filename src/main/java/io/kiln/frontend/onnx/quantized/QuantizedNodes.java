// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.IntegerForm;
import io.kiln.frontend.onnx.operator.IntegerForm.Deferred;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import java.util.List;
import java.util.Optional;

/** Imports nodes of quantized models so that they stay in integers. */
public final class QuantizedNodes {
    private QuantizedNodes() {}

    /** Imports a node, in integers where that is exact, and states how integers compute its first output. */
    public static void emit(OnnxImporter importer, NodeContext node) {
        MovedBytes movements = new MovedBytes(importer, node);
        boolean isMovement = movements.apply();
        if (isMovement && movements.move()) {
            return;
        }
        importer.emit(node);
        transposedWeights(node).ifPresent(form -> attach(node, 0, form));
        for (int i = 0; i < node.outputs(); i++) {
            int output = i;
            Optional<Deferred> moved = isMovement && isReal(node, i) ? movements.form(i) : Optional.empty();
            if (i == 0 && node.node().domain().isEmpty() && (isReal(node, 0) || isTruth(node))) {
                FunctionForm.of(importer, node, moved).ifPresent(form -> attach(node, 0, form));
            }
            if (isReal(node, i)) {
                moved.ifPresent(form -> attach(node, output, form));
            }
        }
        if (isReal(node, 0)) {
            form(importer, node).ifPresent(form -> attach(node, 0, form));
        }
    }

    /** The integers of a constant matrix that is transposed, such as the weights of a layer in PyTorch's order. */
    private static Optional<IntegerForm> transposedWeights(NodeContext node) {
        boolean isMatrix = node.node().operator().equals("Transpose")
                && node.node().domain().isEmpty()
                && node.shape(0).rank() == 2
                && node.attributes().wholes("perm").orElse(List.of(1L, 0L)).equals(List.of(1L, 0L));
        return isMatrix ? node.input(0).form().flatMap(form -> transposed(node, form)) : Optional.empty();
    }

    private static Optional<IntegerForm> transposed(NodeContext node, IntegerForm form) {
        if (form instanceof IntegerForm.Blocks blocks) {
            return Optional.of(new IntegerForm.Blocks(
                    transposed(node, blocks.integers()),
                    transposed(node, blocks.scales()),
                    transposed(node, blocks.zeroPoints()),
                    1 - blocks.axis(),
                    blocks.size()));
        }
        return form instanceof IntegerForm.Dequantized rows && rows.integers() instanceof Constant known
                ? Optional.of(new IntegerForm.Dequantized(
                        transposed(node, known),
                        new ElementQuantization(
                                rows.by().scales(),
                                rows.by().zeroPoints(),
                                1 - rows.by().axis(),
                                rows.by().type())))
                : Optional.empty();
    }

    private static Constant transposed(NodeContext node, Constant matrix) {
        return node.known(new Expressions(node).transpose(matrix, List.of(1, 0)), "its matrix");
    }

    /** Whether the first output has truth values that are computed from floats so far. */
    private static boolean isTruth(NodeContext node) {
        return node.output(0)
                .filter(v -> v.type() == ElementType.BOOL && !(v.arg() instanceof Constant))
                .filter(v -> v.form().isEmpty())
                .isPresent();
    }

    /** Whether an output has real numbers that are computed in floats so far. */
    private static boolean isReal(NodeContext node, int output) {
        return node.output(output)
                .filter(v -> v.type().isFloat() && !(v.arg() instanceof Constant))
                .filter(v -> v.form().isEmpty())
                .isPresent();
    }

    private static Optional<IntegerForm> form(OnnxImporter importer, NodeContext node) {
        if (!node.node().domain().isEmpty()) {
            return Optional.empty();
        }
        return converted(node)
                .or(() -> SumForm.of(importer, node))
                .or(() -> MeanForm.of(importer, node))
                .or(() -> ResizeForm.of(node))
                .or(() -> SoftmaxForm.of(QuantizedImporters.importer("Softmax"), node))
                .or(() -> DeferredSum.ofSum(node));
    }

    /** Bytes that the model converts to real numbers, such as the image of a camera: they stand for themselves. */
    private static Optional<IntegerForm> converted(NodeContext node) {
        boolean isConversion =
                node.node().operator().equals("Cast") || node.node().operator().equals("CastLike");
        if (!isConversion) {
            return Optional.empty();
        }
        ElementType type = node.element(0);
        if (type != ElementType.INT8 && type != ElementType.UINT8) {
            return Optional.empty();
        }
        int zero = type == ElementType.UINT8 ? Byte.MIN_VALUE : 0;
        ElementQuantization by = new ElementQuantization(List.of(1f), List.of(zero), 0, type);
        return Optional.of(new IntegerForm.Dequantized(QuantizedBytes.of(node, node.input(0)), by));
    }

    private static void attach(NodeContext node, int output, IntegerForm form) {
        OnnxValue value = node.output(output).orElseThrow();
        Arg arg = value.type() == ElementType.BOOL && form instanceof TableForm table ? table.truths() : value.arg();
        node.replace(output, new OnnxValue(arg, value.type(), Optional.of(form)));
    }
}
