// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.frontend.GraphProblems;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.model.OnnxModel;
import io.kiln.frontend.onnx.model.OnnxValueInfo;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.frontend.onnx.operator.Scope;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Origin;
import io.kiln.ir.Result;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.element.TflLookup;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.ConstantFolder;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
        this.problems = new GraphProblems(model.file(), new Problems(Failure.MODEL));
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
            throw new KilnException(Failure.MODEL.problem(
                    "the model does not state which version of ONNX's operators it uses",
                    model.file(),
                    "an opset_import",
                    "Export the model again"));
        }
        int version = model.opsets().version("").orElse(1);
        if (version < 1) {
            throw new KilnException(Failure.MODEL.problem(
                    "the version of ONNX's operators is " + version,
                    model.file(),
                    "1 to " + OnnxRegistration.NEWEST,
                    "Export the model again"));
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
        float[] reals = new float[TflLookup.SIZE];
        for (int i = 0; i < reals.length; i++) {
            long centred = Byte.MIN_VALUE + i - from.constant(2).integer(0);
            reals[i] = centred * from.constant(1).real(0);
        }
        return graph.emit(new TflLookup(), List.of(from.args().get(0), Constant.vector(reals)), from.origin());
    }
}
