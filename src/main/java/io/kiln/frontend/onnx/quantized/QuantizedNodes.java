// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.movement.BilinearImage;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.NodeContext.Emitter;
import io.kiln.frontend.onnx.operator.OnnxRegistration.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm.Deferred;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm.Limits;
import io.kiln.frontend.onnx.quantized.ElementOperand.FunctionForm;
import io.kiln.frontend.onnx.quantized.ElementOperand.TableForm;
import io.kiln.frontend.onnx.quantized.QuantizedForms.NoIntegers;
import io.kiln.frontend.onnx.quantized.SumForm.DeferredSum;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.OnnxBilinear;
import io.kiln.ir.arith.SingleFactor;
import io.kiln.ir.arith.SingleLogarithm;
import io.kiln.ir.op.OnnxForm;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.layer.OnnxLayers.OnnxResize2d;
import io.kiln.ir.op.layer.OnnxLayers.OnnxSoftmax;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

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
        boolean isMatrix = node.is("Transpose")
                && node.node().domain().isEmpty()
                && node.shape(0).rank() == 2
                && node.wholes("perm").orElse(List.of(1L, 0L)).equals(List.of(1L, 0L));
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
        return node.known(node.transpose(matrix, List.of(1, 0)), "its matrix");
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
        boolean isConversion = node.is("Cast", "CastLike");
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

    /**
     * Operators that move or select elements: bytes are moved instead of the real numbers that they stand for. Quantizing is monotone, so
     * that selecting the largest number and quantizing it gives the largest byte.
     */
    private record MovedBytes(OnnxImporter importer, NodeContext node) {
        private static final Set<String> OPERATORS = Set.of("""
            Reshape Flatten Squeeze Unsqueeze Transpose Slice Split Identity Dropout Expand Tile Gather
            DepthToSpace SpaceToDepth MaxPool GlobalMaxPool ReduceMax ReduceMin Pad Concat Resize Upsample
            ArgMax ArgMin TopK Compress GatherElements GatherND ReverseSequence Where Max Min Scatter
            ScatterElements ScatterND
            """.strip().split("\\s+", -1));

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
                    node.text("reduction", "none").equals("none");
                case "Resize", "Upsample" ->
                    node.text("mode", "nearest").equals("nearest")
                            && !node.text("coordinate_transformation_mode", "").equals("tf_crop_and_resize");
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
                        ? Optional.of(
                                QuantizedForms.limited(node, QuantizeLinearImporter.bytes(node, part, to), limits))
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
                    ? node.emit(op, args.get(0), node.number(fill.orElse((byte) 0), DType.INT8))
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
            return node.is("Pad");
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
                return Optional.of(node.real("value", 0));
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
    }

    /**
     * An interpolated image of bytes, see {@link OnnxResize2d}.
     *
     * @param image where elements of the result lie
     */
    private record ResizeForm(NodeContext node, Dequantized data, BilinearImage image) implements Deferred {
        private static final Set<String> OPERATORS = Set.of("Resize", "Upsample");

        static Optional<IntegerForm> of(NodeContext node) {
            return QuantizedForms.bytes(node, 0)
                    .filter(data -> OPERATORS.contains(node.node().operator()))
                    .flatMap(data -> BilinearImage.of(node).map(image -> new ResizeForm(node, data, image)));
        }

        @Override
        public Optional<Arg> quantized(ElementQuantization to, Limits limits) {
            if (image.isCopy(node.shape(0))) {
                return QuantizedForms.quantized(node, data, to, limits);
            }
            float from = data.by().scale();
            boolean isExact = SingleFactor.isOrdinary(from)
                    && SingleFactor.isOrdinary(to.scale())
                    && from / (double) to.scale() < OnnxBilinear.MOST_RATIO;
            return isExact
                    ? Optional.of(QuantizedForms.limited(node, withOutside(interpolated(to), to), limits))
                    : Optional.empty();
        }

        private Arg interpolated(ElementQuantization to) {
            Shape shape = node.shape(0);
            boolean isImage = shape.rank() == 4;
            Arg nhwc = isImage
                    ? node.transpose(data.integers(), List.of(0, 2, 3, 1))
                    : node.reshape(data.integers(), Shape.of(1, shape.dim(0), shape.dim(1), 1));
            Arg result = node.emit(
                    new OnnxResize2d(),
                    nhwc,
                    places(node, image.rows()),
                    weights(node, image.rows()),
                    places(node, image.columns()),
                    weights(node, image.columns()),
                    Constant.scalar(data.by().scale()),
                    Constant.scalar(data.by().zeroPoint()),
                    Constant.scalar(to.scale()),
                    Constant.scalar(to.zeroPoint()));
            return isImage
                    ? node.transpose(result, List.of(0, 3, 1, 2))
                    : node.reshape(
                            result,
                            Shape.of(image.rows().size(), image.columns().size()));
        }

        private static Constant places(Formulas e, BilinearImage.Line line) {
            return e.ints(line.places(), Shape.of(2, line.size()));
        }

        private static Constant weights(Formulas e, BilinearImage.Line line) {
            return e.reals(line.weights(), Shape.of(2, line.size()));
        }

        /** Elements outside the data have a number of their own. */
        private Arg withOutside(Arg result, ElementQuantization to) {
            if (!image.hasOutside()) {
                return result;
            }
            List<Integer> rows = image.rows().inside();
            List<Integer> columns = image.columns().inside();
            Constant inside = node.places(
                    Shape.of(rows.size(), columns.size()),
                    i -> rows.get(i / columns.size()) * columns.get(i % columns.size()));
            Arg isInside = node.cast(inside, DType.BOOL);
            return node.where(isInside, result, node.number(to.quantize(image.outside()), DType.INT8));
        }
    }

    /**
     * A softmax of bytes or its logarithm, see {@link OnnxSoftmax}.
     *
     * @param isLog whether it is the logarithm
     */
    record SoftmaxForm(Dequantized data, boolean isLog) {
        /**
         * The form of a node, if it is one of both.
         *
         * @param softmax the importer of {@code Softmax}, which places the axes of its logarithm as well
         */
        static Optional<IntegerForm> of(OnnxImporter softmax, NodeContext node) {
            boolean isLog = node.is("LogSoftmax");
            return QuantizedForms.bytes(node, 0)
                    .filter(data -> isLog || node.is("Softmax"))
                    .filter(data -> SingleFactor.isOrdinary(data.by().scale()))
                    .map(data -> (Deferred) (to, limits) -> SingleFactor.isOrdinary(to.scale())
                            ? new SoftmaxForm(data, isLog).emit(softmax, node, to, limits)
                            : Optional.empty());
        }

        private Optional<Arg> emit(OnnxImporter importer, NodeContext node, ElementQuantization to, Limits limits) {
            OnnxValue bytes = new OnnxValue(data.integers(), ElementType.FLOAT);
            return QuantizedForms.bytes(
                            importer, node, Map.of(0, bytes), (op, args, origin) -> integers(node, to, op, args))
                    .map(result -> QuantizedForms.limited(node, result, limits));
        }

        private Arg integers(NodeContext node, ElementQuantization to, Op op, List<Arg> args) {
            boolean isTooLong = isLog && node.type(args.get(0)).shape().dim(-1) > SingleLogarithm.MOST;
            if (op instanceof Softmax && !isTooLong) {
                return softmax(node, new OnnxSoftmax(OnnxForm.QDQ, isLog), args.get(0), data.by(), to);
            }
            if (op instanceof Transpose || op instanceof Reshape) {
                return node.emit(op, args);
            }
            throw new NoIntegers(op);
        }

        /** Emits the operator along the last axis. */
        static Arg softmax(
                NodeContext node, OnnxSoftmax op, Arg bytes, ElementQuantization from, ElementQuantization to) {
            return node.emit(
                    op,
                    bytes,
                    Constant.scalar(from.scale()),
                    Constant.scalar(from.zeroPoint()),
                    Constant.scalar(to.scale()),
                    Constant.scalar(to.zeroPoint()));
        }
    }
}
