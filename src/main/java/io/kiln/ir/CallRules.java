// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

import io.kiln.base.DType;
import io.kiln.ir.op.call.ControlFlow.If;
import io.kiln.ir.op.call.ControlFlow.While;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Checks operators that call functions: the functions exist, take and compute values of the given types, and no two
 * pointers through which anything is written are equal.
 */
public final class CallRules {
    /**
     * Largest depth of calls below the model itself: each open function has its stack frame and its workspace inside
     * its caller's.
     */
    public static final int MAX_DEPTH = 16;

    /**
     * Largest number of functions of a model. Every caller has its own copies, so that a few functions that call each
     * other can multiply.
     */
    public static final int MAX_FUNCTIONS = 256;

    private final List<String> violations = new ArrayList<>();
    private final Binding binding;
    private final Function caller;
    private final List<TensorType> types;

    private CallRules(Binding binding, Function caller, Map<Integer, TensorType> types) {
        this.binding = binding;
        this.caller = caller;
        this.types = binding.args().stream().map(arg -> arg.type(types)).toList();
    }

    /**
     * Violations of a call, as messages for users; none for other operators.
     *
     * @param binding its operator has as many arguments as it requires
     * @param caller has the functions
     * @param types types of the caller's values, including the arguments
     */
    public static List<String> violations(Binding binding, Function caller, Map<Integer, TensorType> types) {
        CallRules rules = new CallRules(binding, caller, types);
        if (binding.op() instanceof If choice) {
            rules.check(choice);
        } else if (binding.op() instanceof While loop) {
            rules.check(loop);
        }
        return rules.violations;
    }

    private void check(If choice) {
        List<TensorType> inputs = types.subList(1, choice.firstResult());
        List<TensorType> results = types.subList(choice.firstResult(), choice.firstVariable());
        check(choice.then(), inputs, results, choice.firstVariable(), choice.thenVariables());
        check(choice.otherwise(), inputs, results, choice.firstVariable(), choice.otherwiseVariables());
        checkWrites();
    }

    private void check(While loop) {
        List<TensorType> carried = types.subList(0, loop.loopVariables());
        if (exists(loop.condition())) {
            List<TensorType> asked = results(caller.functions().get(loop.condition()));
            boolean isBool = asked.size() == 1
                    && asked.get(0).dtype() == DType.BOOL
                    && asked.get(0).shape().elements() == 1;
            require(isBool, "its condition computes " + texts(asked) + ", not one bool element");
            check(loop.condition(), carried, asked, loop.loopVariables(), loop.conditionVariables());
        }
        check(loop.body(), carried, carried, loop.loopVariables(), loop.bodyVariables());
        checkWrites();
    }

    private void check(
            int index, List<TensorType> inputs, List<TensorType> results, int firstVariable, List<Integer> variables) {
        if (!exists(index)) {
            violations.add("there is no function " + index);
            return;
        }
        Function called = caller.functions().get(index);
        String name = "`" + called.name() + "`, which it calls, ";
        same(name + "takes", called.params().stream().map(Parameter::type), inputs);
        same(name + "computes", results(called).stream(), results);
        same(
                name + "uses variables of",
                called.variables().stream().map(Variable::type),
                variables.stream().map(v -> types.get(firstVariable + v)).toList());
        require(new HashSet<>(variables).size() == variables.size(), name + "is given a variable twice");
    }

    private boolean exists(int index) {
        return index >= 0 && index < caller.functions().size();
    }

    private static List<TensorType> results(Function function) {
        Map<Integer, TensorType> types = function.types();
        return function.results().stream().map(r -> types.get(r.id())).toList();
    }

    private void checkWrites() {
        for (int position : binding.op().writes()) {
            Arg written = binding.args().get(position);
            long uses = binding.args().stream().filter(written::equals).count();
            require(uses == 1, "argument " + (position + 1) + ", which it changes, is given to it twice");
        }
    }

    private void same(String what, Stream<TensorType> types, List<TensorType> expected) {
        List<TensorType> actual = types.toList();
        require(actual.equals(expected), what + " " + texts(actual) + ", not " + texts(expected));
    }

    private void require(boolean holds, String what) {
        if (!holds) {
            violations.add(binding.op().name() + ": " + what);
        }
    }

    private static String texts(List<TensorType> types) {
        return types.isEmpty()
                ? "nothing"
                : types.stream().map(TensorType::text).collect(Collectors.joining(", "));
    }
}
