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
import io.kiln.frontend.tflite.operator.SignedBytes;
import io.kiln.frontend.tflite.operator.Subgraphs.ImportedSubgraph;
import io.kiln.frontend.tflite.operator.TensorValues;
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
    private final GraphTensors tensors;
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
        this.tensors = new GraphTensors(tensors, values, problems);
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
        GraphResults results = new GraphResults(file, operators.size(), values, tensors, modelInputs, problems);
        List<Result> all = isCalled
                ? results.handedOn(Arrays.stream(outputs)
                        .filter(output -> values.handle(output).isEmpty())
                        .toArray())
                : results.of(outputs);
        problems.throwIfAny();
        Function function = graph.build(moduleName, all);
        return new ImportedSubgraph(
                isCalled ? GraphResults.numbered(function) : function,
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
            if (!tensors.exists(index) || values.value(index).isPresent()) {
                problems.add(
                        "input #" + index + " does not exist, or is listed twice",
                        file + ": a subgraph",
                        "one of the " + tensors.count() + " tensors");
                continue;
            }
            modelInputs.add(index);
            tensors.tensor(index).ifPresent(tensor -> {
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
        return new GraphResults(file, operators.size(), values, tensors, modelInputs, problems).values(outputs);
    }

    private void addInputs(int[] inputs, List<Optional<String>> handles) {
        for (int i = 0; i < inputs.length; i++) {
            int index = inputs[i];
            Optional<String> handle = i < handles.size() ? handles.get(i) : Optional.empty();
            String where = file + ": model input " + tensors.describe(index);
            if (!modelInputs.add(index)) {
                problems.add("the tensor is listed twice", where, "every input once");
            } else if (!tensors.exists(index)) {
                problems.add("the tensor does not exist", where, "one of the " + tensors.count() + " tensors");
            } else {
                tensors.tensor(index).ifPresent(tensor -> addInput(tensor, handle, where));
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
            } else if (!tensors.exists(index)) {
                problems.add(
                        "input tensor #" + index + " does not exist",
                        () -> where(operator),
                        tensors.count() + " tensors");
            } else {
                Optional<TfliteTensor> tensor = tensors.tensor(index);
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
            if (!tensors.exists(index)) {
                problems.add(
                        "output tensor #" + index + " does not exist",
                        () -> where(operator),
                        tensors.count() + " tensors");
                continue;
            }
            tensors.tensor(index).ifPresent(tensor -> {
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
            if (tensors.exists(index) && values.value(index).isEmpty()) {
                if (tensors.shapesAreInferred()) {
                    unknown.add(index);
                }
                tensors.tensor(index).ifPresent(tensor -> values.define(index, graph.value(tensor.type())));
            }
        }
    }

    private String where(OperatorRecord operator) {
        return file + ": operator #" + operator.index() + " " + operator.name() + " ("
                + tensors.describe(operator.inputs()) + " -> " + tensors.describe(operator.outputs()) + ")";
    }

    /** Finds the results of a subgraph after all its operators are read, each in its own memory. */
    private static final class GraphResults {
        private final String file;
        private final int operators;
        private final TensorValues values;
        private final GraphTensors tensors;
        private final Set<Integer> modelInputs;
        private final GraphProblems problems;
        private final List<Result> results = new ArrayList<>();

        /**
         * @param operators number of operators
         * @param modelInputs indices of the subgraph's inputs
         */
        GraphResults(
                String file,
                int operators,
                TensorValues values,
                GraphTensors tensors,
                Set<Integer> modelInputs,
                GraphProblems problems) {
            this.file = file;
            this.operators = operators;
            this.values = values;
            this.tensors = tensors;
            this.modelInputs = modelInputs;
            this.problems = problems;
        }

        /** Renames inputs and results to numbers, which cannot clash. Only operators see them. */
        static Function numbered(Function function) {
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
        List<Result> of(int[] outputs) {
            Set<Integer> listed = new HashSet<>(modelInputs);
            Set<String> names = new HashSet<>();
            values.graph().params().forEach(parameter -> names.add(parameter.name()));
            for (int index : outputs) {
                if (tensors.exists(index)) {
                    tensors.tensor(index).ifPresent(tensor -> names.add(tensor.name()));
                }
            }
            for (int index : outputs) {
                if (problems.tooMany()) {
                    break;
                }
                String where = file + ": model output " + tensors.describe(index);
                boolean isCopy = tensors.exists(index) && !listed.add(index);
                existing(index, where).ifPresent(tensor -> {
                    if (tensor.type().shape().elements() == 0) {
                        problems.add("an output has no elements", where, "dimensions of at least 1");
                    } else {
                        add(tensor, where, isCopy ? GraphBuilder.unused(tensor.name(), names) : tensor.name(), false);
                    }
                });
            }
            return results;
        }

        /** Results of a function that operators call. */
        List<Result> handedOn(int[] outputs) {
            for (int index : outputs) {
                String where = file + ": output " + tensors.describe(index) + " of a subgraph that is called";
                existing(index, where).ifPresent(tensor -> add(tensor, where, tensor.name(), tensor.variable()));
            }
            return results;
        }

        /**
         * The values of outputs of a subgraph that becomes part of a function.
         *
         * @throws KilnException with every problem
         */
        List<Arg> values(int[] outputs) {
            List<Arg> all = new ArrayList<>();
            for (int index : outputs) {
                String where = file + ": output " + tensors.describe(index) + " of a subgraph";
                existing(index, where).ifPresent(tensor -> value(tensor, where).ifPresent(all::add));
            }
            problems.throwIfAny();
            return all;
        }

        private Optional<TfliteTensor> existing(int index, String where) {
            if (!tensors.exists(index)) {
                problems.add("the tensor does not exist", where, "one of the " + tensors.count() + " tensors");
                return Optional.empty();
            }
            return tensors.tensor(index);
        }

        private void add(TfliteTensor tensor, String where, String name, boolean isCopy) {
            Origin origin = origin(tensor);
            value(tensor, where).ifPresent(value -> {
                Arg.Ref own = isCopy
                        ? values.graph().copied(value, origin)
                        : values.graph().own(value, origin);
                results.add(new Result(own.id(), name, tensor.quantization().affine()));
            });
        }

        private Origin origin(TfliteTensor tensor) {
            return new Origin(file, operators, "output", tensor.name());
        }

        private Optional<Arg> value(TfliteTensor tensor, String where) {
            Optional<Arg> value = values.value(tensor.index(), tensor.dtype(), origin(tensor))
                    .or(() ->
                            Optional.of(tensor).filter(TfliteTensor::isConstant).map(values::constant));
            if (value.isEmpty()) {
                problems.add("no operator computes the output", where, "an output that an operator computes");
            }
            return value;
        }
    }

    /** The tensors of a subgraph, updated while its operators are read. */
    private static final class GraphTensors {
        private final TensorReader reader;
        private final TensorValues values;
        private final GraphProblems problems;

        GraphTensors(TensorReader reader, TensorValues values, GraphProblems problems) {
            this.reader = reader;
            this.values = values;
            this.problems = problems;
        }

        int count() {
            return reader.count();
        }

        boolean exists(int index) {
            return index >= 0 && index < reader.count();
        }

        /** Whether the shapes of computed tensors are inferred from the inputs, ignoring those in the file. */
        boolean shapesAreInferred() {
            return reader.shapesAreInferred();
        }

        /** The tensor at a valid index, with its value or shape in the graph; empty if it cannot be read. */
        Optional<TfliteTensor> tensor(int index) {
            try {
                TfliteTensor tensor = reader.tensor(index);
                return Optional.of(values.value(index)
                        .map(value -> value instanceof Constant constant
                                ? tensor.withValue(SignedBytes.of(constant, tensor.dtype()))
                                : tensor.withShape(values.graph().type(value).shape()))
                        .orElse(tensor));
            } catch (KilnException e) {
                problems.addAll(e.problems());
                return Optional.empty();
            }
        }

        /** A description for messages, even of a tensor that cannot be read. */
        String describe(int index) {
            return reader.describe(index);
        }

        /** As {@link #describe(int)}, for the first eight. */
        String describe(FlatVector indices) {
            List<String> texts = new ArrayList<>();
            for (int i = 0; i < indices.size() && i < 8; i++) {
                texts.add(describe(indices.i32(i)));
            }
            return String.join(", ", texts) + (indices.size() > 8 ? ", …" : "");
        }
    }
}
