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
import java.util.function.Function;
import java.util.function.ToIntFunction;

/** The operators that call functions of the model, and how they name them. */
public final class ControlFlow {
    private ControlFlow() {}

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
            int then,
            int otherwise,
            int inputs,
            int results,
            List<Integer> thenVariables,
            List<Integer> otherwiseVariables)
            implements Op {
        /** Its name in Relay text. */
        public static final String SPELLED = "tfl.if_then_else";

        public static final Signature<If> SIGNATURE = Signature.of(If.class, "tfl.if")
                .data("condition", Operand::scalar, DType.BOOL)
                .data("input", operand -> operand.times(If::inputs))
                .state("result", operand -> operand.times(If::results))
                .state(
                        "variable",
                        operand -> operand.times(op -> Check.variables(op.thenVariables, op.otherwiseVariables)))
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
                .state(
                        "variable",
                        operand -> operand.times(op -> Check.variables(op.conditionVariables, op.bodyVariables)))
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

    /** A function called by an operator, as an index among its caller's functions. */
    public record FunctionRef(int index) {
        static final int MAX_ARGUMENTS = 256;

        /** An attribute that names a function. */
        static <O> Attribute<O, Integer> attribute(String name, ToIntFunction<O> get) {
            return Attribute.function(name, get, FunctionRef::new);
        }

        /** An attribute that tells which variables a function uses. */
        static <O> Attribute<O, List<Integer>> variables(String name, Function<O, List<Integer>> get) {
            return Attribute.wholes(name, get, 0, MAX_ARGUMENTS - 1);
        }

        @Override
        public String toString() {
            return "function " + index;
        }
    }
}
