// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.stateful;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatVector;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration.OperatorImporter;
import io.kiln.frontend.tflite.operator.Subgraphs.ImportedSubgraph;
import io.kiln.frontend.tflite.operator.TensorValues;
import io.kiln.frontend.tflite.schema.OperatorOptions;
import io.kiln.frontend.tflite.schema.StablehloOptions.StablehloCase;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Function;
import io.kiln.ir.Variable;
import io.kiln.ir.op.call.ControlFlow.If;
import io.kiln.ir.op.call.ControlFlow.While;
import io.kiln.ir.op.call.Variables.RefWrite;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * IF, STABLEHLO_CASE and WHILE: the subgraphs become functions, their results variables. Shapes must stay constant. Handles of
 * variables are names, which the subgraphs get during import: no value is passed for them.
 */
record ControlFlowImporter(boolean repeats) implements OperatorImporter {
    private static final int MOST_BRANCHES = 64;

    @Override
    public void emit(OperatorContext operator) {
        FlatTable options = operator.requiredOptions(repeats ? OperatorOptions.While.TYPE : OperatorOptions.If.TYPE);
        List<TfliteTensor> operands = inputs(operator, repeats ? 0 : 1);
        List<Optional<String>> handles = operands.stream()
                .map(input -> operator.values().handle(input.index()))
                .toList();
        ImportedSubgraph first = operator.subgraph(
                options.get(
                        repeats ? OperatorOptions.While.COND_SUBGRAPH_INDEX : OperatorOptions.If.THEN_SUBGRAPH_INDEX),
                handles,
                operands);
        ImportedSubgraph second = operator.subgraph(
                options.get(
                        repeats ? OperatorOptions.While.BODY_SUBGRAPH_INDEX : OperatorOptions.If.ELSE_SUBGRAPH_INDEX),
                handles,
                operands);
        if (repeats) {
            operator.require(
                    second.handles().size() != handles.size()
                            || second.handles().equals(handles),
                    "its body returns handles of other variables than it takes",
                    "the same handles in the same places");
            repeat(operator, first, second);
        } else {
            operator.require(
                    first.handles().equals(second.handles()),
                    "its branches return handles of different variables",
                    "the same handles in the same places");
            choose(operator, operator.value(0), first, second);
        }
    }

    /**
     * STABLEHLO_CASE: the branch of an index, the last one if there is none of this index. Of more than two branches all are computed, and
     * one is selected, so they must not write variables.
     */
    static void several(OperatorContext operator) {
        FlatVector stated = operator.laterOptions(StablehloCase.TYPE).get(StablehloCase.BRANCH_SUBGRAPH_INDICES);
        operator.requireThat(
                stated.size() >= 1 && stated.size() <= MOST_BRANCHES,
                "it has " + stated.size() + " branches",
                "1 to " + MOST_BRANCHES);
        int[] branches = stated.ints();
        TfliteTensor index = operator.input(0);
        operator.requireThat(
                index.dtype() == DType.INT32 && index.shape().elements() == 1,
                "its index is " + index.text(),
                "one int32");
        List<TfliteTensor> inputs = inputs(operator, 1);
        List<ImportedSubgraph> called = Arrays.stream(branches)
                .mapToObj(b -> operator.subgraph(b, List.of(), inputs))
                .toList();
        List<TfliteTensor> outputs = shaped(operator, called.get(0), operator.outputs());
        called.forEach(branch -> requireFits(operator, branch, inputs, outputs));
        operator.check();
        Formulas f = operator;
        Arg chosen = operator.value(index);
        if (branches.length == 2) {
            choose(operator, f.equal(chosen, f.number(0, DType.INT32)), called.get(0), called.get(1));
            return;
        }
        operator.requireThat(
                called.stream().allMatch(b -> b.function().variables().isEmpty()),
                "its branches have variables",
                "two branches, or such without variables");
        List<Arg> args = inputs.stream().map(operator::value).toList();
        List<Arg> results = operator.inlined(branches[branches.length - 1], args);
        for (int b = branches.length - 2; b >= 0; b--) {
            Arg isChosen = f.equal(f.reshape(chosen, List.of()), f.number(b, DType.INT32));
            List<Arg> own = operator.inlined(branches[b], args);
            List<Arg> others = results;
            results = IntStream.range(0, own.size())
                    .mapToObj(i -> f.where(f.broadcast(isChosen, f.shape(own.get(i))), own.get(i), others.get(i)))
                    .toList();
        }
        for (int i = 0; i < results.size(); i++) {
            operator.finish(operator.outputs().get(i), results.get(i));
        }
    }

    private static void choose(
            OperatorContext operator, Arg condition, ImportedSubgraph then, ImportedSubgraph otherwise) {
        List<TfliteTensor> inputs = values(operator, inputs(operator, 1));
        List<TfliteTensor> outputs = results(operator, then);
        requireFits(operator, then, inputs, outputs);
        requireFits(operator, otherwise, inputs, outputs);
        operator.check();
        Variables variables = new Variables(operator.values());
        List<Integer> thenVariables = variables.of(then);
        List<Integer> otherwiseVariables = variables.of(otherwise);
        List<Arg> args = new ArrayList<>();
        args.add(condition);
        inputs.forEach(input -> args.add(operator.value(input)));
        for (TfliteTensor output : outputs) {
            Arg.Ref result = operator.graph().variable(output.name(), output.type());
            args.add(result);
            operator.finish(output, result);
        }
        args.addAll(variables.all);
        operator.emit(
                new If(
                        operator.graph().function(then.function()),
                        operator.graph().function(otherwise.function()),
                        inputs.size(),
                        outputs.size(),
                        thenVariables,
                        otherwiseVariables),
                args.toArray(Arg[]::new));
    }

    private static void repeat(OperatorContext operator, ImportedSubgraph condition, ImportedSubgraph body) {
        List<TfliteTensor> inputs = values(operator, inputs(operator, 0));
        List<TfliteTensor> outputs = results(operator, body);
        requireFits(operator, body, inputs, outputs);
        requireInputs(operator, condition, inputs);
        Function asks = condition.function();
        operator.require(
                asks.results().size() == 1
                        && asks.types().get(asks.results().get(0).id()).shape().elements() == 1,
                "its condition computes " + asks.results().size() + " results",
                "one bool element");
        operator.requireThat(
                inputs.size() == outputs.size(),
                "it has " + inputs.size() + " inputs and " + outputs.size() + " outputs",
                "as many outputs as inputs");
        Variables variables = new Variables(operator.values());
        List<Integer> conditionVariables = variables.of(condition);
        List<Integer> bodyVariables = variables.of(body);
        List<Arg> args = new ArrayList<>();
        for (int i = 0; i < inputs.size(); i++) {
            TfliteTensor output = outputs.get(i);
            Arg.Ref variable = operator.graph().variable(output.name(), output.type());
            operator.emit(new RefWrite(), variable, operator.value(inputs.get(i)));
            args.add(variable);
            operator.finish(output, variable);
        }
        args.addAll(variables.all);
        operator.emit(
                new While(
                        operator.graph().function(asks),
                        operator.graph().function(body.function()),
                        inputs.size(),
                        conditionVariables,
                        bodyVariables),
                args.toArray(Arg[]::new));
    }

    private static List<TfliteTensor> inputs(OperatorContext operator, int first) {
        List<TfliteTensor> inputs = new ArrayList<>();
        for (int i = first; i < operator.inputCount(); i++) {
            inputs.add(operator.input(i));
        }
        return inputs;
    }

    /** The tensors that are not handles. */
    private static List<TfliteTensor> values(OperatorContext operator, List<TfliteTensor> tensors) {
        return tensors.stream()
                .filter(tensor -> operator.values().handle(tensor.index()).isEmpty())
                .toList();
    }

    /** The outputs for results; the others are handles that a subgraph returns. */
    private static List<TfliteTensor> results(OperatorContext operator, ImportedSubgraph called) {
        List<TfliteTensor> outputs = operator.outputs();
        for (int i = 0; i < Math.min(outputs.size(), called.handles().size()); i++) {
            int tensor = outputs.get(i).index();
            called.handles().get(i).ifPresent(name -> operator.values().defineHandle(tensor, name));
        }
        return shaped(operator, called, values(operator, outputs));
    }

    /** The outputs, with the shapes of a subgraph's results if shapes are inferred. */
    private static List<TfliteTensor> shaped(
            OperatorContext operator, ImportedSubgraph called, List<TfliteTensor> outputs) {
        Function function = called.function();
        if (!operator.infersShape() || function.results().size() != outputs.size()) {
            return outputs;
        }
        Map<Integer, TensorType> types = function.types();
        return IntStream.range(0, outputs.size())
                .mapToObj(i -> outputs.get(i)
                        .withShape(types.get(function.results().get(i).id()).shape()))
                .toList();
    }

    private static void requireFits(
            OperatorContext operator, ImportedSubgraph called, List<TfliteTensor> inputs, List<TfliteTensor> outputs) {
        requireInputs(operator, called, inputs);
        Function function = called.function();
        Map<Integer, TensorType> types = function.types();
        List<TensorType> results =
                function.results().stream().map(r -> types.get(r.id())).toList();
        requireSame(operator, "computes", results, outputs);
    }

    private static void requireInputs(OperatorContext operator, ImportedSubgraph called, List<TfliteTensor> inputs) {
        List<TensorType> params =
                called.function().params().stream().map(p -> p.type()).toList();
        requireSame(operator, "takes", params, inputs);
    }

    private static void requireSame(
            OperatorContext operator, String what, List<TensorType> types, List<TfliteTensor> tensors) {
        List<TensorType> expected = tensors.stream().map(TfliteTensor::type).toList();
        operator.require(
                types.equals(expected),
                "a subgraph that it calls " + what + " " + texts(types),
                texts(expected),
                "Export the model with fixed shapes");
    }

    private static String texts(List<TensorType> types) {
        return types.stream().map(TensorType::text).collect(Collectors.joining(", "));
    }

    /** The variables of the called functions, mapped to the caller's: shared ones by name, others created for them. */
    private static final class Variables {
        private final TensorValues values;
        private final List<Arg> all = new ArrayList<>();

        Variables(TensorValues values) {
            this.values = values;
        }

        /** For each variable of a function, its index among all variables. */
        List<Integer> of(ImportedSubgraph called) {
            List<Integer> indices = new ArrayList<>();
            for (Variable variable : called.function().variables()) {
                Arg own = called.resources().containsValue(variable)
                        ? shared(variable)
                        : values.graph().variable(variable.name(), variable.type(), variable.initial());
                if (!all.contains(own)) {
                    all.add(own);
                }
                indices.add(all.indexOf(own));
            }
            return indices;
        }

        private Arg shared(Variable variable) {
            return values.resource(variable.name(), variable.type())
                    .orElseThrow(() -> new IllegalArgumentException(variable.name()));
        }
    }
}
