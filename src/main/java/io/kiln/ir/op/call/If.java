// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.call;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Operand;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Spelling;
import java.util.List;

/**
 * Calls one of two functions. Arguments: the condition (bool, one element), the inputs of both functions, then
 * variables: one for each result, and those that the functions use.
 *
 * @param then index of the function to call if the condition is true
 * @param otherwise index of the function to call if the condition is false
 * @param inputs number of inputs
 * @param results number of results
 * @param thenVariables for each variable of the first function, its index among the variables after the results
 * @param otherwiseVariables likewise for the second
 */
public record If(
        int then, int otherwise, int inputs, int results, List<Integer> thenVariables, List<Integer> otherwiseVariables)
        implements Op {
    /** Its name in Relay text. */
    public static final String SPELLED = "tfl.if_then_else";

    public static final Signature<If> SIGNATURE = Signature.of(If.class, "tfl.if")
            .data("condition", Operand::scalar, DType.BOOL)
            .data("input", operand -> operand.times(If::inputs))
            .state("result", operand -> operand.times(If::results))
            .state("variable", operand -> operand.times(op -> Check.variables(op.thenVariables, op.otherwiseVariables)))
            .attributes(
                    FunctionRef.attribute("then", If::then),
                    FunctionRef.attribute("otherwise", If::otherwise),
                    Attribute.whole("inputs", If::inputs, 0, FunctionRef.MAX_ARGUMENTS),
                    Attribute.whole("results", If::results, 0, FunctionRef.MAX_ARGUMENTS),
                    FunctionRef.variables("then_variables", If::thenVariables),
                    FunctionRef.variables("otherwise_variables", If::otherwiseVariables),
                    If::new)
            // TVM's parser treats `if` as a keyword everywhere.
            .spelled((op, args) -> Spelling.own(SPELLED, op.attributes()))
            .nothing();

    @Override
    public Card<If> card() {
        return SIGNATURE.of(this);
    }

    public If {
        thenVariables = List.copyOf(thenVariables);
        otherwiseVariables = List.copyOf(otherwiseVariables);
    }

    /** Position of the first argument that receives a result. */
    public int firstResult() {
        return 1 + inputs;
    }

    /** Position of the first of the functions' variables. */
    public int firstVariable() {
        return 1 + inputs + results;
    }
}
