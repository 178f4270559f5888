// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm.Deferred;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm.Limits;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Lookups.PairLookup;
import io.kiln.ir.op.element.Lookups.TflLookup;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** An operand of a function that is computed element by element: a function of bytes, or a constant. */
sealed interface ElementOperand {
    /** What it is computed from. */
    Sources sources();

    /** Nodes that are evaluated for it; a node that is used twice counts twice. */
    int nodes();

    /** Its values at all points of a grid, as a vector. */
    Constant over(Grid grid);

    /**
     * What decides an element of a result.
     *
     * @param tensors of bytes, each once
     * @param constants of more than one element, each once
     */
    record Sources(List<Dequantized> tensors, List<Constant> constants) {
        public Sources {
            tensors = tensors.stream().distinct().toList();
            constants = constants.stream().distinct().toList();
        }

        /** The sources of a function of both. */
        Sources with(Sources other) {
            return new Sources(
                    Stream.concat(tensors.stream(), other.tensors.stream()).toList(),
                    Stream.concat(constants.stream(), other.constants.stream()).toList());
        }
    }

    /**
     * A constant of several elements.
     *
     * @param node where it is an operand
     */
    record Values(NodeContext node, Constant constant) implements ElementOperand {
        @Override
        public Sources sources() {
            return new Sources(List.of(), List.of(constant));
        }

        @Override
        public int nodes() {
            return 0;
        }

        @Override
        public Constant over(Grid grid) {
            return (Constant) node.take(node.reshape(constant, List.of(constant.elements())), grid.places(constant), 0);
        }
    }

    /**
     * A function of each element of one tensor of bytes, as a table. Functions of such functions are one table again, as is the product of a
     * tensor and its sigmoid.
     *
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

    /**
     * A function of the elements of two tensors of bytes, or of one and of constants. The importer of the float operator computes the results of
     * all combinations of bytes, which are a table.
     *
     * @param operands its inputs by index, without constants of one element
     * @param moved how it selects elements of its operands, if it does
     */
    record ElementForm(
            OnnxImporter importer, NodeContext node, Map<Integer, ElementOperand> operands, Optional<Deferred> moved)
            implements Deferred, ElementOperand {
        /** Most nodes of one function. */
        static final int MOST_NODES = 64;

        public ElementForm {
            operands = new LinkedHashMap<>(operands);
        }

        @Override
        public Sources sources() {
            return operands.values().stream()
                    .map(ElementOperand::sources)
                    .reduce(new Sources(List.of(), List.of()), Sources::with);
        }

        @Override
        public int nodes() {
            return 1
                    + operands.values().stream().mapToInt(ElementOperand::nodes).sum();
        }

        @Override
        public Constant over(Grid grid) {
            Map<Integer, OnnxValue> values = new LinkedHashMap<>();
            operands.forEach((index, operand) -> {
                Constant results = operand.over(grid);
                values.put(
                        index,
                        new OnnxValue(results, ElementType.of(results.type().dtype())));
            });
            NodeContext shadow = node.shadow(values, Optional.empty());
            importer.emit(shadow);
            return shadow.output(0)
                    .map(OnnxValue::arg)
                    .filter(Constant.class::isInstance)
                    .map(Constant.class::cast)
                    .filter(results -> results.elements() == grid.size())
                    .map(results -> (Constant) node.reshape(results, List.of(grid.size())))
                    .orElseThrow(() -> node.failure(
                            "its results depend on more than the element at their place",
                            "one result for each element"));
        }

        /** Its results at all points; empty if a result depends on other elements than the one at its place. */
        Optional<Constant> results(Grid grid) {
            try {
                return Optional.of(over(grid));
            } catch (KilnException e) {
                return Optional.empty();
            }
        }

        @Override
        public Optional<Arg> quantized(ElementQuantization to, Limits limits) {
            Optional<Limits> own = FunctionForm.limits(node, to);
            if (own.isPresent() && operands.get(0) instanceof ElementForm inner) {
                return inner.quantized(to, own.get().then(limits));
            }
            boolean isMoved = node.is("Max", "Min");
            Optional<Arg> selected = isMoved ? moved.flatMap(form -> form.quantized(to, limits)) : Optional.empty();
            return selected.or(() -> table(to, limits)).or(() -> moved.flatMap(form -> form.quantized(to, limits)));
        }

        private Optional<Arg> table(ElementQuantization to, Limits limits) {
            Sources sources = sources();
            if (sources.tensors().size() == 2 && sources.constants().isEmpty()) {
                return pairs(sources.tensors().get(0), sources.tensors().get(1), to, limits);
            }
            return sources.tensors().size() == 1 ? rows(sources, to, limits) : Optional.empty();
        }

        private Optional<Arg> pairs(Dequantized left, Dequantized right, ElementQuantization to, Limits limits) {
            PairForm pair = new PairForm(left, right);
            boolean isPlain = operands.size() == 2
                    && operands.values().stream().allMatch(o -> o instanceof TableForm table && table.isPlain());
            PairLookup kind = isPlain ? pair.kind(node.node().operator(), to) : new PairLookup();
            return results(Grid.of(left, right))
                    .map(all -> pair.emit(node, kind, limits, (x, y) -> {
                        float real = all.real((x - Byte.MIN_VALUE) * PairLookup.SIZE + y - Byte.MIN_VALUE);
                        return QuantizedForms.quantized(to, real);
                    }));
        }

        private Optional<Arg> rows(Sources sources, ElementQuantization to, Limits limits) {
            Dequantized tensor = sources.tensors().get(0);
            return ConstantRows.of(node, sources.constants())
                    .flatMap(rows -> results(rows.with(tensor)).map(all -> {
                        byte[] table = QuantizedForms.table(all, to, limits);
                        Shape shape = Shape.of(rows.rows().size(), PairLookup.SIZE);
                        return node.emit(new PairLookup(), rows.indices(), tensor.integers(), node.bytes(table, shape));
                    }));
        }

        /**
         * Constants that meet a tensor of bytes element by element: the different combinations of their elements are the rows of a table.
         *
         * @param indices the row of each element, less 128, in dimensions that broadcast over the tensor
         * @param rows for each row, the place in each constant of an element with its number
         */
        private record ConstantRows(Constant indices, List<Map<Constant, Integer>> rows) {
            private static final int MOST_ELEMENTS = 1 << 20;

            ConstantRows {
                rows = List.copyOf(rows);
            }

            /** The rows of some constants; empty if there are more than 256. */
            static Optional<ConstantRows> of(NodeContext node, List<Constant> constants) {
                Shape shape = Shape.scalar();
                for (Constant constant : constants) {
                    shape = node.broadcastShape(shape, constant.type().shape());
                }
                if (shape.elements() > MOST_ELEMENTS) {
                    return Optional.empty();
                }
                List<Constant> places = new ArrayList<>();
                for (Constant constant : constants) {
                    places.add((Constant)
                            node.broadcast(node.places(constant.type().shape(), i -> i), shape));
                }
                Map<List<Number>, Map<Constant, Integer>> rows = new LinkedHashMap<>();
                Map<List<Number>, Integer> numbers = new LinkedHashMap<>();
                byte[] indices = new byte[(int) shape.elements()];
                for (int i = 0; i < indices.length; i++) {
                    Map<Constant, Integer> row = new LinkedHashMap<>();
                    List<Number> key = new ArrayList<>();
                    for (int k = 0; k < constants.size(); k++) {
                        int place = (int) places.get(k).integer(i);
                        row.put(constants.get(k), place);
                        key.add(number(constants.get(k), place));
                    }
                    rows.putIfAbsent(key, row);
                    numbers.putIfAbsent(key, numbers.size());
                    if (rows.size() > PairLookup.SIZE) {
                        return Optional.empty();
                    }
                    indices[i] = (byte) (numbers.get(key) + Byte.MIN_VALUE);
                }
                Constant index = node.bytes(indices, shape);
                return Optional.of(new ConstantRows(index, List.copyOf(rows.values())));
            }

            private static Number number(Constant constant, int place) {
                return constant.type().dtype() == DType.FLOAT32 ? constant.real(place) : constant.integer(place);
            }

            /** All rows with all bytes of a tensor; the bytes follow each other. */
            Grid with(Dequantized tensor) {
                Map<Constant, IntUnaryOperator> elements = new LinkedHashMap<>();
                rows.get(0).keySet().forEach(constant -> {
                    int[] places = IntStream.range(0, rows.size())
                            .map(row -> rows.get(row).get(constant))
                            .toArray();
                    elements.put(constant, i -> places[i / PairLookup.SIZE]);
                });
                return new Grid(rows.size() * PairLookup.SIZE, Map.of(tensor, i -> i % PairLookup.SIZE), elements);
            }
        }

        /** Functions of two tensors of bytes, element by element. */
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
                    case "Add", "Sum", "QLinearAdd" ->
                        new PairLookup(PairLookup.Kind.SUM, left, right, leftZero, rightZero);
                    case "Mean" -> new PairLookup(PairLookup.Kind.SUM, left / 2, right / 2, leftZero, rightZero);
                    case "Sub" -> new PairLookup(PairLookup.Kind.SUM, left, -right, leftZero, rightZero);
                    case "Mul", "QLinearMul" ->
                        new PairLookup(PairLookup.Kind.PRODUCT, left * rhs.by().scale(), 0, leftZero, rightZero);
                    default -> new PairLookup();
                };
            }
        }
    }

    /**
     * Points at which a function of elements is evaluated.
     *
     * @param bytes by tensor, the byte at each point, plus 128
     * @param elements by constant, the place of its element at each point
     */
    record Grid(int size, Map<Dequantized, IntUnaryOperator> bytes, Map<Constant, IntUnaryOperator> elements) {
        public Grid {
            bytes = Map.copyOf(bytes);
            elements = Map.copyOf(elements);
        }

        /** All bytes of one tensor. */
        static Grid of(Dequantized tensor) {
            return new Grid(TflLookup.SIZE, Map.of(tensor, i -> i), Map.of());
        }

        /** All pairs of bytes of two tensors; those of the right one follow each other. */
        static Grid of(Dequantized left, Dequantized right) {
            return new Grid(
                    TflLookup.SIZE * TflLookup.SIZE,
                    Map.of(left, i -> i / TflLookup.SIZE, right, i -> i % TflLookup.SIZE),
                    Map.of());
        }

        /** The byte of a tensor at each point, plus 128. */
        Constant places(Dequantized tensor) {
            return vector(bytes.get(tensor));
        }

        /** The place of a constant's element at each point. */
        Constant places(Constant constant) {
            return vector(elements.get(constant));
        }

        private Constant vector(IntUnaryOperator value) {
            return Constant.vector(IntStream.range(0, size).map(value).toArray());
        }
    }

    /**
     * Functions of single elements. Of bytes they are tables; limits after another operator limit its bytes, because quantizing is
     * monotone.
     */
    final class FunctionForm {
        private static final Set<String> UNARY = Set.of("""
            Abs Acos Acosh Asin Asinh Atan Atanh Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish
            IsNaN LeakyRelu Log Mish Neg Not Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus
            Softsign Sqrt Swish Tan Tanh ThresholdedRelu
            """.strip().split("\\s+", -1));

        /** Functions of all of their inputs. */
        private static final Set<String> OF_SEVERAL = Set.of("""
            Add And Clip Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mod Mul Or PRelu Pow Sub
            Sum Where Xor
            """.strip().split("\\s+", -1));

        private FunctionForm() {}

        /**
         * The form of a node; empty if it is no function of elements, or of too many tensors.
         *
         * @param moved how the node moves or selects elements, if it does
         */
        static Optional<IntegerForm> of(OnnxImporter importer, NodeContext node, Optional<Deferred> moved) {
            String name = node.node().operator();
            boolean isUnary = UNARY.contains(name);
            return isUnary || OF_SEVERAL.contains(name)
                    ? elements(importer, node, moved)
                            .or(() -> isUnary || name.equals("Clip") ? limits(node) : Optional.empty())
                    : Optional.empty();
        }

        /** A function of the elements of tensors of bytes and of constants. */
        private static Optional<IntegerForm> elements(
                OnnxImporter importer, NodeContext node, Optional<Deferred> moved) {
            Map<Integer, ElementOperand> operands = new LinkedHashMap<>();
            for (int i = 0; i < node.inputs(); i++) {
                if (!node.has(i) || (node.arg(i) instanceof Constant number && number.elements() == 1)) {
                    continue;
                }
                Optional<ElementOperand> operand = operand(node, i);
                if (operand.isEmpty()) {
                    return Optional.empty();
                }
                operands.put(i, operand.get());
            }
            ElementForm form = new ElementForm(importer, node, operands, moved);
            Sources sources = form.sources();
            if (sources.tensors().isEmpty() || form.nodes() > ElementForm.MOST_NODES || !isOfShape(node, sources)) {
                return Optional.empty();
            }
            if (sources.tensors().size() > 1 || !sources.constants().isEmpty()) {
                return Optional.of(form);
            }
            Dequantized source = sources.tensors().get(0);
            return form.results(Grid.of(source)).map(results -> new TableForm(node, source, results));
        }

        private static Optional<ElementOperand> operand(NodeContext node, int input) {
            if (node.arg(input) instanceof Constant constant) {
                boolean isKnown = node.element(input) == ElementType.FLOAT || node.element(input) == ElementType.BOOL;
                return Optional.of(constant)
                        .filter(values -> isKnown && values.elements() > 1)
                        .map(values -> new ElementOperand.Values(node, values));
            }
            return node.form(input, ElementOperand.class)
                    .or(() -> QuantizedForms.bytes(node, input).map(data -> TableForm.of(node, data)));
        }

        /** Whether the result has the dimensions of its sources: other constants have one element and at most as many dimensions. */
        private static boolean isOfShape(NodeContext node, Sources sources) {
            Shape shape = Shape.scalar();
            for (Dequantized tensor : sources.tensors()) {
                shape = node.broadcastShape(shape, node.shape(tensor.integers()));
            }
            for (Constant constant : sources.constants()) {
                shape = node.broadcastShape(shape, constant.type().shape());
            }
            return node.output(0).map(v -> node.shape(v.arg())).equals(Optional.of(shape));
        }

        /** Relu or Clip after something that integers compute. */
        private static Optional<IntegerForm> limits(NodeContext node) {
            return node.form(0, Deferred.class)
                    .filter(inner -> range(node).isPresent())
                    .map(inner -> new Limited(node, inner));
        }

        private record Limited(NodeContext node, Deferred inner) implements Deferred {
            @Override
            public Optional<Arg> quantized(ElementQuantization to, Limits limits) {
                return inner.quantized(to, limits(node, to).orElseThrow().then(limits));
            }

            @Override
            public boolean canBeWide() {
                return inner.canBeWide();
            }
        }

        /** The range of bytes of a Relu, or of a Clip with constant limits. */
        static Optional<Limits> limits(NodeContext node, ElementQuantization to) {
            return range(node).map(range -> {
                int low = to.quantize(range[0]);
                return new Limits(low, Math.max(low, to.quantize(range[1])));
            });
        }

        private static Optional<float[]> range(NodeContext node) {
            boolean isClip = node.is("Clip");
            if (!isClip && !node.is("Relu")) {
                return Optional.empty();
            }
            float low = isClip ? -Float.MAX_VALUE : 0;
            float high = Float.MAX_VALUE;
            if (isClip) {
                low = node.real("min", low);
                high = node.real("max", high);
                for (int i = 1; i < node.inputs(); i++) {
                    if (node.has(i) && !(node.arg(i) instanceof Constant)) {
                        return Optional.empty();
                    }
                }
                low = node.has(1) ? node.reals(1, "min").get(0) : low;
                high = node.has(2) ? node.reals(2, "max").get(0) : high;
            }
            return Optional.of(new float[] {low, high});
        }
    }
}
