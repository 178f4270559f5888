// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.frontend.GraphProblems;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.InputValues;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.model.OnnxModel;
import io.kiln.frontend.onnx.model.OnnxModel.OnnxGraph;
import io.kiln.frontend.onnx.model.OnnxModel.OnnxValueInfo;
import io.kiln.frontend.onnx.model.OnnxModel.OnnxValueInfo.Dimension;
import io.kiln.frontend.onnx.model.OnnxNode;
import io.kiln.frontend.onnx.operator.NodeContext.Scope;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Origin;
import io.kiln.ir.Result;
import io.kiln.ir.op.element.Lookups.TflLookup;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.ConstantFolder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Converts a model to a function of the IR. */
final class OnnxModelImporter {
    private final OnnxModel model;
    private final OnnxIo io;
    private final GraphBuilder graph;
    private final GraphProblems problems;
    private final Scope scope = new Scope(Optional.empty());

    /**
     * @param io layout of the images at the border
     * @param folder computes constants
     */
    OnnxModelImporter(OnnxModel model, OnnxIo io, ConstantFolder folder) {
        this.model = model;
        this.io = io;
        this.graph = new GraphBuilder(folder);
        this.problems = new GraphProblems(model.file());
    }

    /**
     * The model.
     *
     * @throws KilnException with all of its errors and unsupported operators
     */
    Function read(String name, InputShapes shapes) {
        checkOpset();
        ModelInputs inputs = new ModelInputs(model, shapes, problems);
        Map<OnnxValueInfo, TensorType> types = inputs.types();
        types.forEach((input, type) -> {
            Optional<Arg> value = inputs.value(input, type).map(constant -> constant);
            scope.define(
                    input.name(), new OnnxValue(value.orElseGet(() -> parameter(input.name(), type)), input.type()));
        });
        model.graph().inputs().stream()
                .filter(input -> !types.containsKey(input))
                .forEach(input -> scope.fail(input.name()));
        NodeImporter nodes = new NodeImporter(model, StatedTypes.of(model, shapes), graph, problems);
        nodes.run(model.graph(), scope);
        List<Result> results = results();
        problems.throwIfAny();
        return graph.build(name, results).withIdsInOrder();
    }

    /** What the model states wrongly about itself. */
    List<String> warnings() {
        return problems.warnings();
    }

    /** An input in the model's layout. */
    private Arg parameter(String name, TensorType type) {
        int rank = type.shape().rank();
        if (!io.moves(rank)) {
            return graph.parameter(name, type, Optional.empty());
        }
        List<Integer> last = channelsLast(rank);
        Shape moved = new Shape(last.stream().map(type.shape()::dim).toList());
        Arg value = graph.parameter(name, new TensorType(moved, type.dtype()), Optional.empty());
        return graph.emit(
                new Transpose(channelsFirst(rank)), List.of(value), new Origin(model.file(), 0, "input", name));
    }

    private static List<Integer> channelsLast(int rank) {
        List<Integer> axes = new ArrayList<>(List.of(0));
        IntStream.range(2, rank).forEach(axes::add);
        axes.add(1);
        return axes;
    }

    private static List<Integer> channelsFirst(int rank) {
        List<Integer> axes = new ArrayList<>(List.of(0, rank - 1));
        IntStream.range(1, rank - 1).forEach(axes::add);
        return axes;
    }

    private void checkOpset() {
        if (model.opsets().versions().isEmpty()) {
            throw Failure.MODEL.exception(
                    "the model does not state which version of ONNX's operators it uses",
                    model.file(),
                    "an opset_import",
                    "Export the model again");
        }
        int version = model.opsets().version("").orElse(1);
        if (version < 1) {
            throw Failure.MODEL.exception(
                    "the version of ONNX's operators is " + version,
                    model.file(),
                    "1 to " + OnnxRegistration.NEWEST,
                    "Export the model again");
        }
    }

    /** Results of the model, each in its own memory: inputs, constants and repeated outputs are copied. */
    private List<Result> results() {
        List<Result> results = new ArrayList<>();
        Set<String> names = new HashSet<>();
        graph.params().forEach(p -> names.add(p.name()));
        if (graph.params().isEmpty()
                && (problems.found() == 0 || model.graph().inputs().isEmpty())) {
            problems.add("the model has no inputs: all its outputs are constants", model.file(), "at least one");
        }
        if (model.graph().outputs().isEmpty()) {
            problems.add("the model has no outputs", model.file(), "at least one");
        }
        model.graph().outputs().forEach(output -> {
            Optional<OnnxValue> value = scope.value(output.name());
            if (value.isPresent()) {
                results.add(result(output.name(), value.orElseThrow(), names));
            } else if (!scope.isFailed(output.name())) {
                problems.add(
                        "no node computes the output", model.file() + ": output `" + output.name() + "`", "a value");
            }
        });
        return results;
    }

    private Result result(String name, OnnxValue computed, Set<String> names) {
        Origin origin = new Origin(model.file(), model.graph().nodes().size(), "output", name);
        Arg real = lookedUp(computed.arg());
        int rank = graph.type(real).shape().rank();
        Arg value = io.moves(rank) ? graph.emit(new Transpose(channelsLast(rank)), List.of(real), origin) : real;
        TensorType type = graph.type(value);
        if (type.shape().elements() == 0) {
            problems.add(
                    "an output has no elements: " + type.text(),
                    model.file() + ": output `" + name + "`",
                    "dimensions of at least 1");
            return new Result(0, name, Optional.empty());
        }
        return new Result(
                graph.own(value, origin).id(), GraphBuilder.unused(name, names), Optional.empty(), computed.labels());
    }

    /** The same value; real numbers that bytes stand for come from a table, so that no float is computed. */
    private Arg lookedUp(Arg value) {
        Optional<Binding> dequantized = graph.producer(value)
                .filter(binding -> binding.op() instanceof QnnDequantize
                        && graph.type(binding.args().get(0)).dtype() == DType.INT8);
        if (dequantized.isEmpty()) {
            return value;
        }
        Binding from = dequantized.orElseThrow();
        Constant reals = Constant.reals("", Shape.of(TflLookup.SIZE), i -> {
            long centred = Byte.MIN_VALUE + i - from.constant(2).integer(0);
            return centred * from.constant(1).real(0);
        });
        return graph.emit(new TflLookup(), List.of(from.args().get(0), reals), from.origin());
    }

    /**
     * Shapes of a model's inputs: the user's, or the file's. A named dimension has one size in all inputs; an open first
     * dimension, the batch, is 1.
     */
    private static final class ModelInputs {
        private static final int MAX_RANK = 8;

        private final OnnxModel model;
        private final InputShapes shapes;
        private final GraphProblems problems;
        private final Map<String, Long> named = new HashMap<>();

        ModelInputs(OnnxModel model, InputShapes shapes, GraphProblems problems) {
            this.model = model;
            this.shapes = shapes;
            this.problems = problems;
        }

        /** Types by input, in the model's order; inputs with a problem are missing. */
        Map<OnnxValueInfo, TensorType> types() {
            Map<OnnxValueInfo, TensorType> types = new LinkedHashMap<>();
            Set<String> names = new LinkedHashSet<>();
            List<OnnxValueInfo> inputs = model.graph().inputs();
            inputs.forEach(this::bindNames);
            for (OnnxValueInfo input : inputs) {
                if (!names.add(input.name())) {
                    problems.add("the input exists twice", where(input), "every input once");
                } else {
                    type(input).ifPresent(type -> types.put(input, type));
                }
            }
            unknown("kiln.inputShapes", shapes.byName().keySet(), names);
            unknown("kiln.inputValues", shapes.values().byName().keySet(), names);
            return types;
        }

        private void unknown(String parameter, Set<String> given, Set<String> names) {
            for (String name : given) {
                if (!names.contains(name)) {
                    boolean isConstant = model.graph().initializers().containsKey(name);
                    problems.add(Failure.CONFIG.problem(
                            parameter + " names `" + name + "`" + (isConstant ? ", a constant of the model" : ""),
                            model.file(),
                            "one of the inputs " + String.join(", ", names),
                            "Correct " + parameter));
                }
            }
        }

        /** The constant that an input becomes by {@code kiln.inputValues}; empty if it stays an input. */
        Optional<Constant> value(OnnxValueInfo input, TensorType type) {
            return Optional.ofNullable(shapes.values().byName().get(input.name()))
                    .map(value -> {
                        boolean isFlat = value.dims().size() <= 1
                                && value.numbers().size() == type.shape().elements();
                        if (!isFlat && !value.dims().equals(type.shape().dims())) {
                            problems.addAll(
                                    List.of(wrong(input, "the shape " + new Shape(value.dims()).text(), type.text())));
                            return new Constant(input.name(), type, Bytes.wrap(new byte[(int) type.bytes()]));
                        }
                        value.numbers().stream()
                                .filter(number -> !input.type().holds(number))
                                .findFirst()
                                .ifPresent(number -> problems.add(wrong(
                                        input,
                                        "the number " + number,
                                        "numbers of type " + input.type().text())));
                        return type.dtype().isFloat()
                                ? Constant.reals(
                                        input.name(),
                                        type.shape(),
                                        i -> value.numbers().get(i).floatValue())
                                : Constant.integers(
                                        input.name(),
                                        type,
                                        i -> value.numbers().get(i).longValue());
                    });
        }

        private Problem wrong(OnnxValueInfo input, String what, String expected) {
            return Failure.CONFIG.problem(
                    "kiln.inputValues gives it " + what, where(input), expected, "Correct kiln.inputValues");
        }

        /** The user's shapes give the sizes of named dimensions. */
        private void bindNames(OnnxValueInfo input) {
            Shape given = shapes.byName().get(input.name());
            List<Dimension> dimensions = input.dimensions().orElse(List.of());
            if (given == null || given.rank() != dimensions.size()) {
                return;
            }
            for (int i = 0; i < given.rank(); i++) {
                String name = dimensions.get(i).name();
                if (!name.isEmpty()) {
                    named.putIfAbsent(name, (long) given.dim(i));
                }
            }
        }

        private Optional<TensorType> type(OnnxValueInfo input) {
            if (!input.kind().equals(OnnxValueInfo.TENSOR)
                    || input.type().held().isEmpty()
                    || input.type().isOfConstants()) {
                problems.add(
                        input.kind().equals(OnnxValueInfo.TENSOR)
                                ? "the input is a tensor of " + input.type().text()
                                : "the input is not a tensor (" + input.kind() + ")",
                        where(input),
                        "a tensor of numbers");
                return Optional.empty();
            }
            Optional<Shape> shape = Optional.ofNullable(shapes.byName().get(input.name()));
            if (shape.isPresent()) {
                checkGiven(input, shape.orElseThrow());
            } else {
                shape = ofValue(input).or(() -> stated(input));
            }
            return shape.map(s -> new TensorType(s, input.type().held().orElseThrow()))
                    .filter(type -> isValid(input, type));
        }

        /** The shape of an input's value, if it has one for each open dimension. */
        private Optional<Shape> ofValue(OnnxValueInfo input) {
            List<Dimension> stated = input.dimensions().orElse(List.of());
            return Optional.ofNullable(shapes.values().byName().get(input.name()))
                    .map(InputValues.Value::dims)
                    .filter(dims -> !dims.isEmpty() && (input.dimensions().isEmpty() || fit(stated, dims)))
                    .map(Shape::new);
        }

        private static boolean fit(List<Dimension> stated, List<Integer> dims) {
            return stated.size() == dims.size()
                    && IntStream.range(0, dims.size())
                            .allMatch(i -> stated.get(i)
                                    .size()
                                    .map(size -> size == (long) dims.get(i))
                                    .orElse(true));
        }

        private void checkGiven(OnnxValueInfo input, Shape given) {
            input.dimensions()
                    .filter(dimensions -> dimensions.size() != given.rank())
                    .ifPresent(dimensions -> problems.add(
                            "kiln.inputShapes gives it the shape " + given.text(),
                            where(input),
                            dimensions.size() + " dimensions"));
        }

        private Optional<Shape> stated(OnnxValueInfo input) {
            if (input.dimensions().isEmpty()) {
                problems.add("the shape of the input is not stated", where(input), "a shape: set kiln.inputShapes");
                return Optional.empty();
            }
            List<Integer> dims = new ArrayList<>();
            List<Dimension> stated = input.dimensions().orElseThrow();
            if (stated.size() > MAX_RANK) {
                problems.add("the input has " + stated.size() + " dimensions", where(input), "at most " + MAX_RANK);
                return Optional.empty();
            }
            for (int i = 0; i < stated.size(); i++) {
                Dimension dimension = stated.get(i);
                Optional<Long> known = dimension.size().or(() -> Optional.ofNullable(named.get(dimension.name())));
                long size = known.orElse(i == 0 ? 1L : 0L);
                if (known.isEmpty() && i > 0) {
                    problems.add(Failure.MODEL.problem(
                            "dimension " + i + " of the input is open"
                                    + (dimension.name().isEmpty() ? "" : " (`" + dimension.name() + "`)"),
                            where(input),
                            "a size",
                            "Set kiln.inputShapes"));
                    return Optional.empty();
                }
                if (size < 1 || size > Integer.MAX_VALUE) {
                    problems.add("dimension " + i + " of the input is " + size, where(input), "at least 1");
                    return Optional.empty();
                }
                dims.add((int) size);
            }
            return Optional.of(new Shape(dims));
        }

        private boolean isValid(OnnxValueInfo input, TensorType type) {
            boolean isValid = type.shape().rank() <= MAX_RANK && !type.isLargerThan(TensorType.MAX_BYTES);
            if (!isValid) {
                problems.add(
                        "the input is " + type.text(),
                        where(input),
                        "at most " + MAX_RANK + " dimensions and " + TensorType.MAX_BYTES + " bytes");
            }
            return isValid;
        }

        private String where(OnnxValueInfo input) {
            return model.file() + ": input `" + input.name() + "`";
        }
    }

    /**
     * The types that a graph states for its values ({@code value_info}), to be compared with the computed ones. Open and
     * named dimensions, and sizes below 1, state
     * nothing.
     *
     * @param byName stated types by the value's name
     * @param hasShapes whether shapes hold too; otherwise element types only
     */
    record StatedTypes(Map<String, OnnxValueInfo> byName, boolean hasShapes) {
        private static final long OPEN = -1;

        /** Nothing stated. */
        static final StatedTypes NONE = new StatedTypes(Map.of(), false);

        StatedTypes {
            byName = Map.copyOf(byName);
        }

        /**
         * The types that a model states. Shapes are ignored if an input has an open dimension, because exporters then state the sizes of their
         * example, or if the user gives an input another shape.
         */
        static StatedTypes of(OnnxModel model, InputShapes shapes) {
            Map<String, OnnxValueInfo> stated = new HashMap<>(model.graph().values());
            model.graph().outputs().forEach(output -> stated.put(output.name(), output));
            boolean hasShapes = model.graph().inputs().stream()
                    .allMatch(input -> isFixed(input)
                            && Optional.ofNullable(shapes.byName().get(input.name()))
                                    .map(given -> fits(input, given))
                                    .orElse(true));
            return new StatedTypes(stated, hasShapes);
        }

        private static boolean isFixed(OnnxValueInfo input) {
            return input.dimensions().isPresent()
                    && input.dimensions().get().stream().allMatch(d -> d.size().isPresent());
        }

        /** The types that a body states for its values; shapes count only if those of the enclosing graph do. */
        StatedTypes ofBody(OnnxGraph body) {
            return new StatedTypes(body.values(), hasShapes);
        }

        /**
         * Compares an output of a node with its stated type. Another element type is an error. Another shape is a warning: tools change nodes
         * and leave stated shapes as they were, and ONNX Runtime uses what it computes, too.
         */
        void compare(OnnxNode node, String output, OnnxValue value, GraphBuilder graph, GraphProblems problems) {
            OnnxValueInfo stated = byName.get(output);
            if (stated == null || !stated.kind().equals(OnnxValueInfo.TENSOR)) {
                return;
            }
            Shape shape = graph.type(value.arg()).shape();
            String both =
                    "its output `" + output + "` is " + value.type().text() + shape.text() + ", but the model states "
                            + stated.type().text()
                            + stated.dimensions().map(StatedTypes::text).orElse("");
            boolean isOfText =
                    stated.type() == ElementType.STRING && !value.labels().isEmpty();
            if (!isOfText && stated.type() != ElementType.UNDEFINED && stated.type() != value.type()) {
                problems.add(Failure.MODEL.problem(
                        both,
                        node.where(problems.file()),
                        "the same in the node and in value_info",
                        "Infer the types again: onnx.shape_inference.infer_shapes of a model without value_info"));
            } else if (hasShapes && !fits(stated, shape)) {
                problems.warn(
                        Failure.MODEL.problem(both, node.where(problems.file()), "", "The computed shape is used"));
            }
        }

        /** Whether known sizes are the same; in other ranks those except 1, which some exporters leave out. */
        private static boolean fits(OnnxValueInfo stated, Shape shape) {
            List<Long> sizes = stated.dimensions().orElse(List.of()).stream()
                    .map(d -> d.size().filter(s -> s > 0).orElse(OPEN))
                    .toList();
            List<Long> actual = shape.dims().stream().map(Long::valueOf).toList();
            if (sizes.size() != actual.size()) {
                return stated.dimensions().isEmpty()
                        || sizes.contains(OPEN)
                        || withoutOnes(sizes).equals(withoutOnes(actual));
            }
            return IntStream.range(0, actual.size())
                    .allMatch(i -> sizes.get(i) == OPEN || sizes.get(i).equals(actual.get(i)));
        }

        private static List<Long> withoutOnes(List<Long> sizes) {
            return sizes.stream().filter(size -> size != 1).toList();
        }

        private static String text(List<Dimension> dimensions) {
            return dimensions.stream()
                    .map(d -> d.size().map(String::valueOf).orElse(d.name().isEmpty() ? "?" : d.name()))
                    .collect(Collectors.joining(", ", "(", ")"));
        }
    }
}
