// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.frontend.GraphProblems;
import io.kiln.frontend.tflite.operator.GraphBuilder;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Finds the results of a subgraph after all its operators are read. */
final class GraphResults {
    private final String file;
    private final int operators;
    private final GraphBuilder graph;
    private final GraphTensors tensors;
    private final Set<Integer> modelInputs;
    private final GraphProblems problems;

    /**
     * @param operators number of operators
     * @param modelInputs indices of the subgraph's inputs
     */
    GraphResults(
            String file,
            int operators,
            GraphBuilder graph,
            GraphTensors tensors,
            Set<Integer> modelInputs,
            GraphProblems problems) {
        this.file = file;
        this.operators = operators;
        this.graph = graph;
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
        return new Function(function.name(), params, function.bindings(), results);
    }

    /**
     * Results of the model, each in its own memory: inputs, constants and repeated outputs are copied. A copy gets a
     * name of its own, because inputs and outputs share the names of macros.
     */
    List<Result> of(int[] outputs) {
        List<Result> results = new ArrayList<>();
        Set<Integer> listed = new HashSet<>(modelInputs);
        Set<String> names = new HashSet<>();
        graph.params().forEach(parameter -> names.add(parameter.name()));
        for (int index : outputs) {
            if (tensors.exists(index)) {
                tensors.tensor(index).ifPresent(tensor -> names.add(tensor.name()));
            }
        }
        for (int index : outputs) {
            String where = file + ": model output " + tensors.describe(index);
            if (problems.tooMany()) {
                break;
            }
            if (!tensors.exists(index)) {
                problems.add("the tensor does not exist", where, "one of the " + tensors.count() + " tensors");
                continue;
            }
            boolean isCopy = !listed.add(index);
            tensors.tensor(index)
                    .ifPresent(tensor -> addOutput(tensor, where, isCopy ? unused(tensor.name(), names) : "", results));
        }
        return results;
    }

    private static String unused(String name, Set<String> names) {
        int number = 2;
        while (!names.add(name + "_" + number)) {
            number++;
        }
        return name + "_" + number;
    }

    /**
     * Adds an output of the model.
     *
     * @param copyName name of the copy; empty if it is not a copy
     */
    private void addOutput(TfliteTensor tensor, String where, String copyName, List<Result> results) {
        if (tensor.type().shape().elements() == 0) {
            problems.add("an output has no elements", where, "dimensions of at least 1");
            return;
        }
        if (tensor.isConstant() && graph.value(tensor.index()).isEmpty()) {
            graph.define(tensor.index(), graph.constant(tensor));
        }
        if (copyName.isEmpty() || graph.value(tensor.index()).isEmpty()) {
            addResult(tensor, where, results);
            return;
        }
        Arg held = graph.value(tensor.index(), tensor.dtype(), output(tensor)).orElseThrow();
        Arg.Ref copy = graph.copied(held, output(tensor));
        results.add(new Result(copy.id(), copyName, tensor.quantization().affine()));
    }

    /** Results of a function that operators call, each in its own memory. */
    List<Result> handedOn(int[] outputs) {
        List<Result> results = new ArrayList<>();
        for (int index : outputs) {
            String where = file + ": output " + tensors.describe(index) + " of a subgraph that is called";
            if (!tensors.exists(index)) {
                problems.add("the tensor does not exist", where, "one of the " + tensors.count() + " tensors");
                continue;
            }
            tensors.tensor(index).ifPresent(tensor -> {
                if (tensor.isConstant() && graph.value(index).isEmpty()) {
                    graph.define(index, graph.constant(tensor));
                }
                boolean isOwn = !modelInputs.contains(index)
                        && !tensor.variable()
                        && outputs.length == Arrays.stream(outputs).distinct().count();
                if (isOwn || graph.value(index).isEmpty()) {
                    addResult(tensor, where, results);
                } else {
                    Arg held =
                            graph.value(index, tensor.dtype(), output(tensor)).orElseThrow();
                    Arg.Ref copy = graph.copied(held, output(tensor));
                    results.add(new Result(
                            copy.id(), tensor.name(), tensor.quantization().affine()));
                }
            });
        }
        return results;
    }

    private Origin output(TfliteTensor tensor) {
        return new Origin(file, operators, "output", tensor.name());
    }

    private void addResult(TfliteTensor tensor, String where, List<Result> results) {
        if (graph.value(tensor.index()).isEmpty()) {
            problems.add("no operator computes the output", where, "an output that an operator computes");
        } else {
            Arg.Ref value = graph.computed(tensor.index(), tensor.dtype(), output(tensor));
            results.add(
                    new Result(value.id(), tensor.name(), tensor.quantization().affine()));
        }
    }
}
