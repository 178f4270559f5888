// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

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

/** Looks up the results of a subgraph, when all its operators were read. */
final class GraphResults {
    private final String file;
    private final int operators;
    private final GraphBuilder graph;
    private final GraphTensors tensors;
    private final Set<Integer> modelInputs;
    private final GraphProblems problems;

    /**
     * @param operators how many there are
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

    /** Nobody sees the inputs and results of a function that operators call; numbers cannot clash. */
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

    /** Results of the model, each computed by an operator. */
    List<Result> of(int[] outputs) {
        List<Result> results = new ArrayList<>();
        Set<Integer> seen = new HashSet<>();
        for (int index : outputs) {
            String where = file + ": model output " + tensors.describe(index);
            if (!seen.add(index)) {
                problems.add("the tensor is listed twice", where, "every output once");
            } else if (!tensors.exists(index)) {
                problems.add("the tensor does not exist", where, "one of the " + tensors.count() + " tensors");
            } else if (modelInputs.contains(index)) {
                problems.add("an output is also an input", where, "an output that an operator computes");
            } else {
                tensors.tensor(index).ifPresent(tensor -> {
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
