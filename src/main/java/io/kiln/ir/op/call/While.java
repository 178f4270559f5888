// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.call;

import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Calls a function repeatedly. Arguments are variables: those of the loop, which both functions take as inputs and the
 * second recomputes, then those that the functions use.
 *
 * @param condition index of the function that tells whether to continue: one bool element
 * @param body index of the function that computes the loop's variables
 * @param loopVariables number of the loop's variables
 * @param conditionVariables for each variable of the first function, its index among the variables after the loop's
 * @param bodyVariables likewise for the second
 */
public record While(
        int condition, int body, int loopVariables, List<Integer> conditionVariables, List<Integer> bodyVariables)
        implements Op {
    public While {
        conditionVariables = List.copyOf(conditionVariables);
        bodyVariables = List.copyOf(bodyVariables);
    }

    @Override
    public String name() {
        return "tfl.while";
    }

    @Override
    public int arity() {
        return loopVariables + Check.variables(conditionVariables, bodyVariables);
    }

    @Override
    public List<Integer> writes() {
        return IntStream.range(0, arity()).boxed().toList();
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes(
                "condition", new FunctionRef(condition),
                "body", new FunctionRef(body),
                "loop_variables", loopVariables,
                "condition_variables", conditionVariables,
                "body_variables", bodyVariables);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        return TensorType.UNIT;
    }
}
