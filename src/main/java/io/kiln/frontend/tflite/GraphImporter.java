// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Imports the operators of a subgraph in their order and collects everything that is wrong with them. */
final class GraphImporter {
    private static final int NONE = -1;

    private final ModelImporter model;
    private final String file;
    private final TensorReader tensors;
    private final List<OperatorRecord> operators;
    private final GraphBuilder graph = new GraphBuilder();
    private final GraphProblems problems;
    private final Map<Integer, Integer> writers = new HashMap<>();
    private final Set<Integer> modelInputs = new HashSet<>();

    /** Tensors whose shapes cannot be inferred because of a problem told already. */
    private final Set<Integer> unknown = new HashSet<>();

    /**
     * @param model imports the subgraphs that operators call
     * @param known problems found before, reported with those found here
     */
    GraphImporter(
            ModelImporter model, String file, TensorReader tensors, List<OperatorRecord> operators, Problems known) {
        this.model = model;
        this.problems = new GraphProblems(file, known);
        this.file = file;
        this.tensors = tensors;
        this.operators = operators;
    }

    /**
     * The whole subgraph as a function.
     *
     * @param isCalled whether it may also hand on inputs and constants
     * @throws KilnException with every problem
     */
    ImportedSubgraph read(String moduleName, int[] inputs, int[] outputs, boolean isCalled) {
        addInputs(inputs);
        findWriters();
        for (OperatorRecord operator : operators) {
            if (problems.tooMany()) {
                break;
            }
            readOperator(operator);
        }
        List<Result> results = isCalled ? handedOn(outputs) : results(outputs);
        problems.throwIfAny();
        Function function = new Function(moduleName, graph.params(), graph.bindings(), results);
        return new ImportedSubgraph(
                (isCalled ? numbered(function) : function)
                        .withVariables(graph.variables())
                        .withFunctions(graph.functions()),
                graph.resources());
    }

    /** Nobody sees the inputs and results of a function that operators call; numbers cannot clash. */
    private static Function numbered(Function function) {
        List<Parameter> params = new ArrayList<>();
        for (Parameter p : function.params()) {
            params.add(new Parameter(p.id(), "in" + params.size(), p.type(), p.quantization()));
        }
        List<Result> results = new ArrayList<>();
        for (Result r : function.results()) {
            results.add(new Result(r.id(), "out" + results.size(), r.quantization()));
        }
        return new Function(function.name(), params, function.bindings(), results);
    }

    private void addInputs(int[] inputs) {
        for (int index : inputs) {
            String where = file + ": model input " + describe(index);
            if (!modelInputs.add(index)) {
                problems.add("the tensor is listed twice", where, "every input once");
            } else if (index < 0 || index >= tensors.count()) {
                problems.add("the tensor does not exist", where, "one of the " + tensors.count() + " tensors");
            } else {
                tensor(index).ifPresent(tensor -> addInput(tensor, where));
            }
        }
    }

    private void addInput(TfliteTensor tensor, String where) {
        if (tensor.isConstant()) {
            problems.add("an input is a constant", where, "an input without data of its own");
        }
        graph.addParameter(tensor);
    }

    private void findWriters() {
        for (OperatorRecord operator : operators) {
            FlatVector outputs = operator.outputs();
            for (int i = 0; i < outputs.spent().size(); i++) {
                Integer earlier = writers.putIfAbsent(outputs.i32(i), operator.index());
                if (earlier != null && !problems.tooMany()) {
                    problems.add(
                            "tensor " + describe(outputs.i32(i)) + " was already written by operator #" + earlier,
                            () -> where(operator),
                            "every tensor written once");
                }
            }
        }
    }

    private void readOperator(OperatorRecord operator) {
        try {
            SupportedOperators.Support support =
                    SupportedOperators.find(operator, model.customOperators(), () -> where(operator));
            int before = problems.found();
            List<Optional<TfliteTensor>> inputs = inputs(operator);
            List<TfliteTensor> outputs = outputs(operator);
            if (problems.found() == before && !dependsOnUnknown(operator)) {
                support.importer()
                        .emit(new OperatorContext(
                                model,
                                operator,
                                graph,
                                inputs,
                                outputs,
                                file,
                                () -> where(operator),
                                tensors.shapesAreInferred()));
            }
        } catch (KilnException e) {
            problems.addAll(e.problems());
        }
        defineMissing(operator);
    }

    private boolean dependsOnUnknown(OperatorRecord operator) {
        return Arrays.stream(operator.inputs().ints()).anyMatch(unknown::contains);
    }

    private List<Optional<TfliteTensor>> inputs(OperatorRecord operator) {
        List<Optional<TfliteTensor>> inputs = new ArrayList<>();
        for (int index : operator.inputs().ints()) {
            if (index == NONE) {
                inputs.add(Optional.empty());
            } else if (index < 0 || index >= tensors.count()) {
                problems.add(
                        "input tensor #" + index + " does not exist",
                        () -> where(operator),
                        tensors.count() + " tensors");
            } else {
                Optional<TfliteTensor> tensor = tensor(index);
                tensor.ifPresent(t -> checkDefined(operator, t));
                inputs.add(tensor);
            }
        }
        return inputs;
    }

    private void checkDefined(OperatorRecord operator, TfliteTensor tensor) {
        if (tensor.variable() && graph.value(tensor.index()).isEmpty()) {
            graph.addVariable(tensor);
        }
        if (tensor.isConstant() || graph.value(tensor.index()).isPresent()) {
            return;
        }
        Integer writer = writers.get(tensor.index());
        if (writer == null) {
            problems.add(
                    "input " + tensor.text() + " is never computed",
                    () -> where(operator),
                    "a model input, constant or result");
        } else {
            problems.add(
                    "input " + tensor.text() + " is computed only by operator #" + writer,
                    () -> where(operator),
                    "operators in execution order, without cycles");
        }
    }

    private List<TfliteTensor> outputs(OperatorRecord operator) {
        List<TfliteTensor> outputs = new ArrayList<>();
        for (int index : operator.outputs().ints()) {
            if (index < 0 || index >= tensors.count()) {
                problems.add(
                        "output tensor #" + index + " does not exist",
                        () -> where(operator),
                        tensors.count() + " tensors");
                continue;
            }
            tensor(index).ifPresent(tensor -> {
                outputs.add(tensor);
                if (tensor.isStored()) {
                    problems.add(
                            "it writes to the constant " + tensor.text(),
                            () -> where(operator),
                            "an output without data");
                } else if (modelInputs.contains(tensor.index())) {
                    problems.add(
                            "it writes to the model input " + tensor.text(),
                            () -> where(operator),
                            "an output of its own");
                }
            });
        }
        return outputs;
    }

    /** After a problem the operator's outputs still count as computed, so that only causes are reported. */
    private void defineMissing(OperatorRecord operator) {
        for (int index : operator.outputs().ints()) {
            if (index >= 0 && index < tensors.count() && graph.value(index).isEmpty()) {
                if (tensors.shapesAreInferred()) {
                    unknown.add(index);
                }
                tensor(index).ifPresent(tensor -> graph.defineUnknown(index, tensor.type()));
            }
        }
    }

    private List<Result> results(int[] outputs) {
        List<Result> results = new ArrayList<>();
        Set<Integer> seen = new HashSet<>();
        for (int index : outputs) {
            String where = file + ": model output " + describe(index);
            if (!seen.add(index)) {
                problems.add("the tensor is listed twice", where, "every output once");
            } else if (index < 0 || index >= tensors.count()) {
                problems.add("the tensor does not exist", where, "one of the " + tensors.count() + " tensors");
            } else if (modelInputs.contains(index)) {
                problems.add("an output is also an input", where, "an output that an operator computes");
            } else {
                tensor(index).ifPresent(tensor -> {
                    if (tensor.isStored()) {
                        problems.add("an output is a constant", where, "an output that an operator computes");
                    } else {
                        addResult(tensor, where, results);
                    }
                });
            }
        }
        return results;
    }

    /** Results of a function that operators call, each in memory of its own. */
    private List<Result> handedOn(int[] outputs) {
        List<Result> results = new ArrayList<>();
        for (int index : outputs) {
            String where = file + ": output " + describe(index) + " of a subgraph that is called";
            if (index < 0 || index >= tensors.count()) {
                problems.add("the tensor does not exist", where, "one of the " + tensors.count() + " tensors");
                continue;
            }
            tensor(index).ifPresent(tensor -> {
                if (tensor.isConstant() && graph.value(index).isEmpty()) {
                    graph.define(index, graph.constant(tensor));
                }
                boolean isOwn = !modelInputs.contains(index)
                        && !tensor.variable()
                        && outputs.length == Arrays.stream(outputs).distinct().count();
                if (isOwn || graph.value(index).isEmpty()) {
                    addResult(tensor, where, results);
                } else {
                    Arg.Ref copy = graph.copied(graph.value(index).orElseThrow(), output(tensor));
                    results.add(new Result(
                            copy.id(), tensor.name(), tensor.quantization().affine()));
                }
            });
        }
        return results;
    }

    private Origin output(TfliteTensor tensor) {
        return new Origin(file, operators.size(), "output", tensor.name());
    }

    private void addResult(TfliteTensor tensor, String where, List<Result> results) {
        if (graph.value(tensor.index()).isEmpty()) {
            problems.add("no operator computes the output", where, "an output that an operator computes");
        } else {
            Arg.Ref value = graph.computed(tensor.index(), output(tensor));
            results.add(
                    new Result(value.id(), tensor.name(), tensor.quantization().affine()));
        }
    }

    private Optional<TfliteTensor> tensor(int index) {
        try {
            TfliteTensor tensor = tensors.tensor(index);
            return Optional.of(graph.value(index)
                    .map(value -> value instanceof Constant constant
                            ? tensor.withValue(constant)
                            : tensor.withShape(graph.type(value).shape()))
                    .orElse(tensor));
        } catch (KilnException e) {
            problems.addAll(e.problems());
            return Optional.empty();
        }
    }

    private String describe(int index) {
        return tensors.describe(index);
    }

    private String where(OperatorRecord operator) {
        return file + ": operator #" + operator.index() + " " + operator.name() + " (" + list(operator.inputs())
                + " -> " + list(operator.outputs()) + ")";
    }

    private String list(FlatVector indices) {
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < indices.size() && i < 8; i++) {
            texts.add(describe(indices.i32(i)));
        }
        return String.join(", ", texts) + (indices.size() > 8 ? ", …" : "");
    }
}
