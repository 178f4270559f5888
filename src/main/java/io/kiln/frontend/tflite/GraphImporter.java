// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.frontend.GraphProblems;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatVector;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorRecord;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.operator.Registration.OperatorImporter;
import io.kiln.frontend.tflite.operator.Subgraphs.ImportedSubgraph;
import io.kiln.frontend.tflite.operator.TensorValues;
import io.kiln.frontend.tflite.operator.TensorValues.SignedBytes;
import io.kiln.frontend.tflite.tensor.TensorReader;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
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

/** Imports the operators of a subgraph in order and collects all of their errors. */
final class GraphImporter {
    private static final int NONE = -1;

    private final ModelImporter model;
    private final String file;
    private final TensorReader tensors;
    private final List<OperatorRecord> operators;
    private final GraphBuilder graph;
    private final TensorValues values;
    private final GraphProblems problems;
    private final Map<Integer, Integer> writers = new HashMap<>();
    private final Set<Integer> modelInputs = new HashSet<>();

    /** Tensors whose shapes cannot be inferred because of a problem that was already reported. */
    private final Set<Integer> unknown = new HashSet<>();

    /**
     * @param model imports the subgraphs that operators call
     * @param values of the subgraph's tensors, with the function that they are part of
     * @param known earlier problems, reported with those found here
     */
    GraphImporter(
            ModelImporter model,
            String file,
            TensorReader tensors,
            TensorValues values,
            List<OperatorRecord> operators,
            Problems known) {
        this.model = model;
        this.graph = values.graph();
        this.values = values;
        this.problems = new GraphProblems(file, known);
        this.file = file;
        this.tensors = tensors;
        this.operators = operators;
    }

    /**
     * The whole subgraph as a function.
     *
     * @param handles for each input, the variable whose handle it is; empty for a parameter
     * @param isCalled whether its results may also be inputs and constants
     * @throws KilnException with every problem
     */
    ImportedSubgraph read(
            String moduleName, int[] inputs, List<Optional<String>> handles, int[] outputs, boolean isCalled) {
        addInputs(inputs, handles);
        readOperators();
        List<Result> all = isCalled
                ? handedOn(Arrays.stream(outputs)
                        .filter(output -> values.handle(output).isEmpty())
                        .toArray())
                : results(outputs);
        problems.throwIfAny();
        Function function = graph.build(moduleName, all);
        return new ImportedSubgraph(
                isCalled ? numbered(function) : function,
                values.resources(),
                Arrays.stream(outputs).mapToObj(values::handle).toList());
    }

    private void readOperators() {
        findWriters();
        for (OperatorRecord operator : operators) {
            if (problems.tooMany()) {
                break;
            }
            readOperator(operator);
        }
    }

    /**
     * The values of the outputs, given those of the inputs; the operators become part of the function that has these.
     *
     * @throws KilnException with every problem
     */
    List<Arg> inlined(int[] inputs, List<Arg> args, int[] outputs) {
        if (inputs.length != args.size()) {
            problems.add(
                    "it is called with " + args.size() + " inputs", file + ": a subgraph", inputs.length + " inputs");
        }
        for (int i = 0; i < Math.min(inputs.length, args.size()); i++) {
            int index = inputs[i];
            Arg arg = args.get(i);
            if (!exists(index) || values.value(index).isPresent()) {
                problems.add(
                        "input #" + index + " does not exist, or is listed twice",
                        file + ": a subgraph",
                        "one of the " + tensors.count() + " tensors");
                continue;
            }
            modelInputs.add(index);
            tensor(index).ifPresent(tensor -> {
                if (!SignedBytes.areSame(graph.type(arg), tensor.type())) {
                    problems.add(
                            "it is called with " + graph.type(arg).text(),
                            file + ": input " + tensors.describe(index) + " of a subgraph",
                            tensor.type().text());
                }
            });
            values.define(index, arg);
        }
        readOperators();
        return outputValues(outputs);
    }

    private void addInputs(int[] inputs, List<Optional<String>> handles) {
        for (int i = 0; i < inputs.length; i++) {
            int index = inputs[i];
            Optional<String> handle = i < handles.size() ? handles.get(i) : Optional.empty();
            String where = file + ": model input " + tensors.describe(index);
            if (!modelInputs.add(index)) {
                problems.add("the tensor is listed twice", where, "every input once");
            } else if (!exists(index)) {
                problems.add("the tensor does not exist", where, "one of the " + tensors.count() + " tensors");
            } else {
                tensor(index).ifPresent(tensor -> addInput(tensor, handle, where));
            }
        }
    }

    private void addInput(TfliteTensor tensor, Optional<String> handle, String where) {
        if (tensor.isConstant()) {
            problems.add("an input is a constant", where, "an input without data of its own");
        }
        handle.ifPresentOrElse(name -> values.defineHandle(tensor.index(), name), () -> values.addParameter(tensor));
    }

    private void findWriters() {
        for (OperatorRecord operator : operators) {
            FlatVector outputs = operator.outputs();
            for (int i = 0; i < outputs.spent().size(); i++) {
                Integer earlier = writers.putIfAbsent(outputs.i32(i), operator.index());
                if (earlier != null && !problems.tooMany()) {
                    problems.add(
                            "tensor " + tensors.describe(outputs.i32(i)) + " was already written by operator #"
                                    + earlier,
                            () -> where(operator),
                            "every tensor written once");
                }
            }
        }
    }

    private void readOperator(OperatorRecord operator) {
        try {
            Registration registration =
                    SupportedOperators.find(operator, model.customOperators(), () -> where(operator));
            int before = problems.found();
            List<Optional<TfliteTensor>> inputs = inputs(operator, registration.importer());
            List<TfliteTensor> outputs = outputs(operator);
            if (problems.found() == before && !dependsOnUnknown(operator)) {
                SignedBytes bytes = new SignedBytes(operator, registration.uint8(), values, inputs);
                if (bytes.areMixed(outputs)) {
                    problems.add("it mixes int8 and uint8", () -> where(operator), "one of them for all tensors");
                }
                registration
                        .importer()
                        .emit(new OperatorContext(
                                model,
                                operator,
                                values,
                                new OperatorContext.Operands(bytes.inputs(), bytes.outputs(outputs)),
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

    private List<Optional<TfliteTensor>> inputs(OperatorRecord operator, OperatorImporter importer) {
        List<Optional<TfliteTensor>> inputs = new ArrayList<>();
        for (int index : operator.inputs().ints()) {
            if (index == NONE) {
                inputs.add(Optional.empty());
            } else if (!exists(index)) {
                problems.add(
                        "input tensor #" + index + " does not exist",
                        () -> where(operator),
                        tensors.count() + " tensors");
            } else {
                Optional<TfliteTensor> tensor = tensor(index);
                tensor.filter(t -> !importer.isMemory(inputs.size())).ifPresent(t -> checkDefined(operator, t));
                inputs.add(tensor);
            }
        }
        return inputs;
    }

    private void checkDefined(OperatorRecord operator, TfliteTensor tensor) {
        if (tensor.variable() && values.value(tensor.index()).isEmpty()) {
            values.addVariable(tensor);
        }
        if (tensor.isConstant() || values.value(tensor.index()).isPresent()) {
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
            if (!exists(index)) {
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

    /** After an error, the operator's outputs still count as computed, so that only causes are reported. */
    private void defineMissing(OperatorRecord operator) {
        for (int index : operator.outputs().ints()) {
            if (exists(index) && values.value(index).isEmpty()) {
                if (tensors.shapesAreInferred()) {
                    unknown.add(index);
                }
                tensor(index).ifPresent(tensor -> values.define(index, graph.value(tensor.type())));
            }
        }
    }

    private String where(OperatorRecord operator) {
        return file + ": operator #" + operator.index() + " " + operator.name() + " (" + describe(operator.inputs())
                + " -> " + describe(operator.outputs()) + ")";
    }

    /** Renames inputs and results to numbers, which cannot clash. Only operators see them. */
    private static Function numbered(Function function) {
        List<Parameter> params = new ArrayList<>();
        for (Parameter p : function.params()) {
            params.add(new Parameter(p.id(), "in" + params.size(), p.type(), p.quantization()));
        }
        List<Result> results = new ArrayList<>();
        for (Result r : function.results()) {
            results.add(new Result(r.id(), "out" + results.size(), r.quantization()));
        }
        return new Function(
                function.name(),
                params,
                function.bindings(),
                results,
                function.groups(),
                function.variables(),
                function.functions());
    }

    /**
     * Results of the model. An input or a repeated output is copied and gets a name of its own, because inputs and outputs share the names of
     * macros.
     */
    private List<Result> results(int[] outputs) {
        List<Result> results = new ArrayList<>();
        Set<Integer> listed = new HashSet<>(modelInputs);
        Set<String> names = new HashSet<>();
        graph.params().forEach(parameter -> names.add(parameter.name()));
        for (int index : outputs) {
            if (exists(index)) {
                tensor(index).ifPresent(tensor -> names.add(tensor.name()));
            }
        }
        for (int index : outputs) {
            if (problems.tooMany()) {
                break;
            }
            String where = file + ": model output " + tensors.describe(index);
            boolean isCopy = exists(index) && !listed.add(index);
            existing(index, where).ifPresent(tensor -> {
                if (tensor.type().shape().elements() == 0) {
                    problems.add("an output has no elements", where, "dimensions of at least 1");
                } else {
                    add(
                            results,
                            tensor,
                            where,
                            isCopy ? GraphBuilder.unused(tensor.name(), names) : tensor.name(),
                            false);
                }
            });
        }
        return results;
    }

    /** Results of a function that operators call. */
    private List<Result> handedOn(int[] outputs) {
        List<Result> results = new ArrayList<>();
        for (int index : outputs) {
            String where = file + ": output " + tensors.describe(index) + " of a subgraph that is called";
            existing(index, where).ifPresent(tensor -> add(results, tensor, where, tensor.name(), tensor.variable()));
        }
        return results;
    }

    /**
     * The values of outputs of a subgraph that becomes part of a function.
     *
     * @throws KilnException with every problem
     */
    private List<Arg> outputValues(int[] outputs) {
        List<Arg> all = new ArrayList<>();
        for (int index : outputs) {
            String where = file + ": output " + tensors.describe(index) + " of a subgraph";
            existing(index, where).ifPresent(tensor -> value(tensor, where).ifPresent(all::add));
        }
        problems.throwIfAny();
        return all;
    }

    private Optional<TfliteTensor> existing(int index, String where) {
        if (!exists(index)) {
            problems.add("the tensor does not exist", where, "one of the " + tensors.count() + " tensors");
            return Optional.empty();
        }
        return tensor(index);
    }

    private void add(List<Result> results, TfliteTensor tensor, String where, String name, boolean isCopy) {
        Origin origin = origin(tensor);
        value(tensor, where).ifPresent(value -> {
            Arg.Ref own = isCopy ? graph.copied(value, origin) : graph.own(value, origin);
            results.add(new Result(own.id(), name, tensor.quantization().affine()));
        });
    }

    private Origin origin(TfliteTensor tensor) {
        return new Origin(file, operators.size(), "output", tensor.name());
    }

    private Optional<Arg> value(TfliteTensor tensor, String where) {
        Optional<Arg> value = values.value(tensor.index(), tensor.dtype(), origin(tensor))
                .or(() -> Optional.of(tensor).filter(TfliteTensor::isConstant).map(values::constant));
        if (value.isEmpty()) {
            problems.add("no operator computes the output", where, "an output that an operator computes");
        }
        return value;
    }

    private boolean exists(int index) {
        return index >= 0 && index < tensors.count();
    }

    /** The tensor at a valid index, with its value or shape in the graph; empty if it cannot be read. */
    private Optional<TfliteTensor> tensor(int index) {
        try {
            TfliteTensor tensor = tensors.tensor(index);
            return Optional.of(values.value(index)
                    .map(value -> value instanceof Constant constant
                            ? tensor.withValue(SignedBytes.of(constant, tensor.dtype()))
                            : tensor.withShape(graph.type(value).shape()))
                    .orElse(tensor));
        } catch (KilnException e) {
            problems.addAll(e.problems());
            return Optional.empty();
        }
    }

    /** Descriptions of the first eight tensors. */
    private String describe(FlatVector indices) {
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < indices.size() && i < 8; i++) {
            texts.add(tensors.describe(indices.i32(i)));
        }
        return String.join(", ", texts) + (indices.size() > 8 ? ", …" : "");
    }
}
