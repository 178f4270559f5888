// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.Emitter;
import io.kiln.frontend.onnx.operator.IntegerForm.Deferred;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.IntegerForm.Limits;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Operators that move or select elements: bytes are moved instead of the real numbers that they stand for. Quantizing is monotone, so
 * that selecting the largest number and quantizing it gives the largest byte.
 *
 * @param importer of the operator
 * @param node the operator
 */
record MovedBytes(OnnxImporter importer, NodeContext node) {
    private static final Set<String> OPERATORS = Set.of(
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
            "ReduceMin",
            "Pad",
            "Concat",
            "Resize",
            "Upsample",
            "ArgMax",
            "ArgMin",
            "TopK",
            "Compress",
            "GatherElements",
            "GatherND",
            "ReverseSequence",
            "Where",
            "Max",
            "Min",
            "Scatter",
            "ScatterElements",
            "ScatterND");

    private static final int PAD_INPUTS = 11;

    /** Whether the operator is a movement, with its attributes and the inputs that decide it. */
    boolean apply() {
        String name = node.node().operator();
        if (!node.node().domain().isEmpty()
                || !OPERATORS.contains(name)
                || !parts().stream().allMatch(node::has)) {
            return false;
        }
        return switch (name) {
            case "Pad" -> fill().isPresent();
            case "ScatterElements", "ScatterND" ->
                node.attributes().text("reduction", "none").equals("none");
            case "Resize", "Upsample" ->
                node.attributes().text("mode", "nearest").equals("nearest")
                        && !node.attributes()
                                .text("coordinate_transformation_mode", "")
                                .equals("tf_crop_and_resize");
            default -> true;
        };
    }

    /** Moves the bytes of values of one quantization; whether there are such. */
    boolean move() {
        int first = parts().get(0);
        Optional<Dequantized> real = QuantizedForms.bytes(node, first);
        if (real.isEmpty() && node.element(first) != ElementType.UINT8) {
            return false;
        }
        Map<Integer, OnnxValue> bytes = new LinkedHashMap<>();
        for (int i : parts()) {
            OnnxValue input = node.input(i);
            Optional<Dequantized> part = QuantizedForms.bytes(node, i);
            boolean isAlike = real.isEmpty()
                    ? node.element(i) == ElementType.UINT8
                    : part.filter(p -> p.by().isSame(real.get().by())).isPresent();
            if (!isAlike) {
                return false;
            }
            bytes.put(
                    i,
                    new OnnxValue(
                            part.map(Dequantized::integers).orElseGet(() -> QuantizedBytes.of(node, input)),
                            ElementType.INT8));
        }
        Optional<Byte> fill =
                real.isEmpty() ? Optional.empty() : fill(real.get().by());
        return (!isPad() || fill.isPresent()) && moved(bytes, fill, real);
    }

    private boolean moved(Map<Integer, OnnxValue> bytes, Optional<Byte> fill, Optional<Dequantized> real) {
        Optional<NodeContext> shadow = shadow(bytes, fill);
        for (int i = 0; shadow.isPresent() && i < node.outputs(); i++) {
            int output = i;
            shadow.get().output(i).ifPresent(moved -> node.replace(output, original(moved, real)));
        }
        return shadow.isPresent();
    }

    private OnnxValue original(OnnxValue moved, Optional<Dequantized> real) {
        if (moved.type() != ElementType.INT8) {
            return moved;
        }
        return real.map(from -> QuantizedBytes.dequantized(node, new Dequantized(moved.arg(), from.by())))
                .orElseGet(() -> QuantizedBytes.value(node, moved.arg(), ElementType.UINT8));
    }

    /** How an output is computed in integers, if all parts are: they are quantized before they are moved. */
    Optional<Deferred> form(int output) {
        for (int i : parts()) {
            if (node.input(i).form().isEmpty() && !(node.arg(i) instanceof Constant)) {
                return Optional.empty();
            }
        }
        return Optional.of((to, limits) -> quantized(to, limits, output));
    }

    private Optional<Arg> quantized(ElementQuantization to, Limits limits, int output) {
        Map<Integer, OnnxValue> bytes = new LinkedHashMap<>();
        for (int i : parts()) {
            OnnxValue part = node.input(i);
            Optional<Arg> quantized = part.arg() instanceof Constant
                    ? Optional.of(QuantizedForms.limited(node, QuantizeLinearImporter.bytes(node, part, to), limits))
                    : part.form().flatMap(form -> QuantizedForms.quantized(node, form, to, limits));
            if (quantized.isEmpty()) {
                return Optional.empty();
            }
            bytes.put(i, new OnnxValue(quantized.get(), ElementType.INT8));
        }
        Optional<Byte> fill =
                fill().map(number -> (byte) Math.max(limits.low(), Math.min(limits.high(), to.quantize(number))));
        return shadow(bytes, fill)
                .flatMap(shadow -> shadow.output(output))
                .filter(moved -> moved.type() == ElementType.INT8)
                .map(OnnxValue::arg);
    }

    /** The operator on bytes; empty if it does not take bytes, or is refused: its importer says so for the node itself. */
    private Optional<NodeContext> shadow(Map<Integer, OnnxValue> bytes, Optional<Byte> fill) {
        Emitter emitter = (op, args, origin) -> op instanceof Pad && isPad()
                ? node.emit(op, args.get(0), scalar(fill.orElse((byte) 0)))
                : node.emit(op, args);
        NodeContext shadow = node.shadow(bytes, Optional.of(emitter));
        try {
            importer.emit(shadow);
            return Optional.of(shadow);
        } catch (KilnException e) {
            return Optional.empty();
        }
    }

    private boolean isPad() {
        return node.node().operator().equals("Pad");
    }

    /** Inputs whose elements are moved. */
    private List<Integer> parts() {
        return switch (node.node().operator()) {
            case "Concat", "Max", "Min" ->
                IntStream.range(0, node.inputs()).boxed().toList();
            case "Where" -> List.of(1, 2);
            case "Scatter", "ScatterElements", "ScatterND" -> List.of(0, 2);
            default -> List.of(0);
        };
    }

    /** What a pad puts around its data; empty for another operator and for a computed number. */
    private Optional<Float> fill() {
        if (!isPad()) {
            return Optional.empty();
        }
        if (node.version() < PAD_INPUTS) {
            return Optional.of(node.attributes().real("value", 0));
        }
        if (!node.has(2)) {
            return Optional.of(0f);
        }
        return node.arg(2) instanceof Constant
                ? Optional.of(node.reals(2, "constant_value").get(0))
                : Optional.empty();
    }

    /** The byte that stands for exactly this number. */
    private Optional<Byte> fill(ElementQuantization by) {
        return fill().filter(number -> by.dequantize(by.quantize(number)) == number)
                .map(number -> (byte) by.quantize(number));
    }

    private static Constant scalar(byte value) {
        return new Constant("", new TensorType(Shape.scalar(), DType.INT8), Bytes.wrap(new byte[] {value}));
    }
}
