// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.call;

import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import java.util.List;

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
    public static final Signature<While> SIGNATURE = Signature.of(While.class, "tfl.while")
            .state("loop variable", operand -> operand.times(While::loopVariables))
            .state("variable", operand -> operand.times(op -> Check.variables(op.conditionVariables, op.bodyVariables)))
            .attributes(
                    FunctionRef.attribute("condition", While::condition),
                    FunctionRef.attribute("body", While::body),
                    Attribute.whole("loop_variables", While::loopVariables, 0, FunctionRef.MAX_ARGUMENTS),
                    FunctionRef.variables("condition_variables", While::conditionVariables),
                    FunctionRef.variables("body_variables", While::bodyVariables),
                    While::new)
            .nothing();

    @Override
    public Card<While> card() {
        return SIGNATURE.of(this);
    }

    public While {
        conditionVariables = List.copyOf(conditionVariables);
        bodyVariables = List.copyOf(bodyVariables);
    }
}
