// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.KilnException;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.IntegerForm;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Constant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Imports nodes of quantized models so that they stay in integers. */
public final class QuantizedNodes {
    /** Operators that move or select elements of their first input. */
    private static final Set<String> MOVEMENTS = Set.of(
            "Reshape",
            "Flatten",
            "Squeeze",
            "Unsqueeze",
            "Transpose",
            "Slice",
            "Split",
            "Identity",
            "Dropout",
            "Expand",
            "Tile",
            "Gather",
            "DepthToSpace",
            "SpaceToDepth",
            "MaxPool",
            "GlobalMaxPool",
            "ReduceMax",
            "ReduceMin");

    private QuantizedNodes() {}

    /** Imports a node, in integers where that is exact, and states how integers compute its first output. */
    public static void emit(OnnxImporter importer, NodeContext node) {
        boolean isMovement = node.node().domain().isEmpty()
                && (MOVEMENTS.contains(node.node().operator()) || isJoint(node));
        if (!isMovement || !isMoved(importer, node)) {
            importer.emit(node);
            form(importer, node).ifPresent(form -> attach(node, form));
        }
    }

    /** Whether all parts of a concatenation have one quantization. */
    private static boolean isJoint(NodeContext node) {
        if (!node.node().operator().equals("Concat") || node.inputs() == 0) {
            return false;
        }
        Optional<Dequantized> first = QuantizedForms.bytes(node, 0);
        boolean isJoint = true;
        for (int i = 0; i < node.inputs(); i++) {
            Optional<Dequantized> part = QuantizedForms.bytes(node, i);
            isJoint &= node.input(i).type() == ElementType.UINT8
                    || (part.isPresent()
                            && part.get().by().isSame(first.orElse(part.get()).by()));
        }
        return isJoint;
    }

    /** Moves bytes instead of the real numbers that they stand for. */
    private static boolean isMoved(OnnxImporter importer, NodeContext node) {
        Optional<Dequantized> real = QuantizedForms.bytes(node, 0);
        if (real.isEmpty() && !(node.has(0) && node.element(0) == ElementType.UINT8)) {
            return false;
        }
        Map<Integer, OnnxValue> bytes = new LinkedHashMap<>();
        int parts = node.node().operator().equals("Concat") ? node.inputs() : 1;
        for (int i = 0; i < parts; i++) {
            bytes.put(
                    i,
                    new OnnxValue(
                            QuantizedForms.bytes(node, i)
                                    .map(Dequantized::integers)
                                    .orElse(QuantizedBytes.of(node, node.input(i))),
                            ElementType.INT8));
        }
        NodeContext shadow = node.shadow(bytes, Optional.empty());
        try {
            importer.emit(shadow);
        } catch (KilnException e) {
            // The operator does not take bytes, or is refused: its importer says so for the node itself.
            return false;
        }
        for (int i = 0; i < node.outputs(); i++) {
            int output = i;
            shadow.output(i).ifPresent(moved -> node.replace(output, original(node, moved, real)));
        }
        return true;
    }

    private static OnnxValue original(NodeContext node, OnnxValue moved, Optional<Dequantized> real) {
        if (moved.type() != ElementType.INT8) {
            return moved;
        }
        return real.map(from -> QuantizedBytes.dequantized(node, new Dequantized(moved.arg(), from.by())))
                .orElseGet(() -> QuantizedBytes.value(node, moved.arg(), ElementType.UINT8));
    }

    private static Optional<IntegerForm> form(OnnxImporter importer, NodeContext node) {
        if (!node.node().domain().isEmpty()
                || node.output(0)
                        .filter(v -> v.type().isFloat() && !(v.arg() instanceof Constant))
                        .isEmpty()
                || node.output(0).flatMap(OnnxValue::form).isPresent()) {
            return Optional.empty();
        }
        return SumForm.of(importer, node)
                .or(() -> MeanForm.of(importer, node))
                .or(() -> SoftmaxForm.of(QuantizedImporters.importer("Softmax"), node))
                .or(() -> FunctionForm.of(importer, node))
                .or(() -> PairForm.of(importer, node));
    }

    private static void attach(NodeContext node, IntegerForm form) {
        OnnxValue value = node.output(0).orElseThrow();
        node.replace(0, new OnnxValue(value.arg(), value.type(), Optional.of(form)));
    }
}
