// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.frontend.GraphProblems;
import io.kiln.frontend.tflite.operator.TensorValues;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Finds the results of a subgraph after all its operators are read, each in its own memory. */
final class GraphResults {
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
                .or(() -> Optional.of(tensor).filter(TfliteTensor::isConstant).map(values::constant));
        if (value.isEmpty()) {
            problems.add("no operator computes the output", where, "an output that an operator computes");
        }
        return value;
    }
}
