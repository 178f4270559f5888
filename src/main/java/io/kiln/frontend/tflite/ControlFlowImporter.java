// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.ir.Arg;
import io.kiln.ir.Function;
import io.kiln.ir.Variable;
import io.kiln.ir.op.If;
import io.kiln.ir.op.RefWrite;
import io.kiln.ir.op.While;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** IF and WHILE: the subgraphs become functions, their results variables. Shapes must not change on the way. */
final class ControlFlowImporter implements OperatorImporter {
    private static final int OPTIONS_IF = 92;
    private static final int OPTIONS_WHILE = 93;

    private final boolean repeats;

    ControlFlowImporter(boolean repeats) {
        this.repeats = repeats;
    }

    @Override
    public void emit(OperatorContext operator) {
        FlatTable options = operator.requiredOptions(repeats ? OPTIONS_WHILE : OPTIONS_IF);
        ImportedSubgraph first = operator.subgraph(options.i32(0, 0));
        ImportedSubgraph second = operator.subgraph(options.i32(1, 0));
        if (repeats) {
            repeat(operator, first, second);
        } else {
            choose(operator, first, second);
        }
    }

    private static void choose(OperatorContext operator, ImportedSubgraph then, ImportedSubgraph otherwise) {
        List<TfliteTensor> inputs = inputs(operator, 1);
        requireFits(operator, then, inputs, operator.outputs());
        requireFits(operator, otherwise, inputs, operator.outputs());
        operator.check();
        Variables variables = new Variables(operator.graph());
        List<Integer> thenVariables = variables.of(then);
        List<Integer> otherwiseVariables = variables.of(otherwise);
        List<Arg> args = new ArrayList<>();
        args.add(operator.value(operator.input(0)));
        inputs.forEach(input -> args.add(operator.value(input)));
        for (TfliteTensor output : operator.outputs()) {
            Arg.Ref result = operator.graph().newVariable(output.name(), output.type());
            args.add(result);
            operator.finish(output, result);
        }
        args.addAll(variables.all);
        operator.emit(
                new If(
                        operator.graph().addFunction(then.function()),
                        operator.graph().addFunction(otherwise.function()),
                        inputs.size(),
                        operator.outputs().size(),
                        thenVariables,
                        otherwiseVariables),
                args.toArray(Arg[]::new));
    }

    private static void repeat(OperatorContext operator, ImportedSubgraph condition, ImportedSubgraph body) {
        List<TfliteTensor> inputs = inputs(operator, 0);
        requireFits(operator, body, inputs, operator.outputs());
        requireInputs(operator, condition, inputs);
        Function asks = condition.function();
        operator.require(
                asks.results().size() == 1
                        && asks.types().get(asks.results().get(0).id()).shape().elements() == 1,
                "its condition computes " + asks.results().size() + " results",
                "one bool element",
                "Export the model again");
        operator.require(
                inputs.size() == operator.outputs().size(),
                "it has " + inputs.size() + " inputs and " + operator.outputs().size() + " outputs",
                "as many outputs as inputs",
                "Export the model again");
        operator.check();
        Variables variables = new Variables(operator.graph());
        List<Integer> conditionVariables = variables.of(condition);
        List<Integer> bodyVariables = variables.of(body);
        List<Arg> args = new ArrayList<>();
        for (int i = 0; i < inputs.size(); i++) {
            TfliteTensor output = operator.outputs().get(i);
            Arg.Ref variable = operator.graph().newVariable(output.name(), output.type());
            operator.emit(new RefWrite(), variable, operator.value(inputs.get(i)));
            args.add(variable);
            operator.finish(output, variable);
        }
        args.addAll(variables.all);
        operator.emit(
                new While(
                        operator.graph().addFunction(asks),
                        operator.graph().addFunction(body.function()),
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

    /** The variables that the called functions use, as the caller's: shared ones by name, others made for them. */
    private static final class Variables {
        private final GraphBuilder graph;
        private final List<Arg> all = new ArrayList<>();

        Variables(GraphBuilder graph) {
            this.graph = graph;
        }

        /** For each variable of a function, which of all it is. */
        List<Integer> of(ImportedSubgraph called) {
            List<Integer> indices = new ArrayList<>();
            for (Variable variable : called.function().variables()) {
                Arg own = called.resources().containsValue(variable)
                        ? shared(variable)
                        : graph.newVariable(variable.name(), variable.type(), variable.initial());
                if (!all.contains(own)) {
                    all.add(own);
                }
                indices.add(all.indexOf(own));
            }
            return indices;
        }

        private Arg shared(Variable variable) {
            return graph.resource(graph.handle(variable.name()), variable.type())
                    .orElseThrow(() -> new IllegalArgumentException(variable.name()));
        }
    }
}
