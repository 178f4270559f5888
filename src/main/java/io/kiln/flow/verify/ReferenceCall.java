// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.base.Bytes;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import io.kiln.ir.Variable;
import io.kiln.ir.op.call.CustomCall;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A call of the user's C in a model, which can also be a model of its own.
 *
 * @param binding the call
 * @param types of the values of its function, by id
 */
record ReferenceCall(Binding binding, Map<Integer, TensorType> types) {
    /** All calls of a function, and of those that it calls. */
    static Stream<ReferenceCall> of(Function function) {
        Map<Integer, TensorType> types = function.types();
        return Stream.concat(
                function.bindings().stream()
                        .filter(binding -> binding.op() instanceof CustomCall)
                        .map(binding -> new ReferenceCall(binding, types)),
                function.functions().stream().flatMap(ReferenceCall::of));
    }

    CustomCall call() {
        return (CustomCall) binding.op();
    }

    /** The inputs of the model, of all arguments' values. */
    List<Bytes> inputs(List<Bytes> args) {
        return IntStream.range(0, call().reads())
                .filter(this::isComputed)
                .mapToObj(args::get)
                .toList();
    }

    private boolean isComputed(int argument) {
        return binding.args().get(argument) instanceof Arg.Ref;
    }

    /**
     * The call as a model: its inputs are the values that it reads, except constants; its outputs are its result, then the variables that it
     * writes. The header
     * is left out, because the generated C declares the function.
     */
    Function model(String name) {
        CustomCall call = call();
        List<Parameter> parameters = new ArrayList<>();
        List<Variable> variables = new ArrayList<>();
        List<Arg> args = new ArrayList<>(binding.args());
        List<Result> results = new ArrayList<>();
        results.add(new Result(call.arity(), "output0", Optional.empty()));
        for (int i = 0; i < call.arity(); i++) {
            if (!isComputed(i)) {
                continue;
            }
            TensorType type = types.get(binding.ref(i));
            args.set(i, new Arg.Ref(i));
            if (i < call.reads()) {
                parameters.add(new Parameter(i, "input" + i, type, Optional.empty()));
            } else {
                String output = "output" + results.size();
                variables.add(new Variable(i, output, type, Bytes.wrap(new byte[Math.toIntExact(type.bytes())])));
                results.add(new Result(i, output, Optional.empty()));
            }
        }
        CustomCall own = new CustomCall(
                call.code(),
                call.function(),
                "",
                call.inputs(),
                call.outputs(),
                call.type(),
                call.quantization(),
                call.options());
        Binding alone = new Binding(call.arity(), own, args, binding.type(), binding.origin());
        return new Function(name, parameters, List.of(alone), results).withVariables(variables);
    }
}
