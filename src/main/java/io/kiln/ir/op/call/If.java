// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.call;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Spelling;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

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
    public If {
        thenVariables = List.copyOf(thenVariables);
        otherwiseVariables = List.copyOf(otherwiseVariables);
    }

    @Override
    public String name() {
        return "tfl.if";
    }

    @Override
    public int arity() {
        return 1 + inputs + results + Check.variables(thenVariables, otherwiseVariables);
    }

    /** Position of the first argument that receives a result. */
    public int firstResult() {
        return 1 + inputs;
    }

    /** Position of the first of the functions' variables. */
    public int firstVariable() {
        return 1 + inputs + results;
    }

    @Override
    public List<Integer> writes() {
        return IntStream.range(firstResult(), arity()).boxed().toList();
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes(
                "then", new FunctionRef(then),
                "otherwise", new FunctionRef(otherwise),
                "inputs", inputs,
                "results", results,
                "then_variables", thenVariables,
                "otherwise_variables", otherwiseVariables);
    }

    @Override
    public int operands() {
        return arity();
    }

    /** TVM's parser treats {@code if} as a keyword everywhere. */
    @Override
    public Spelling spelling(List<TensorType> args) {
        return Spelling.own("tfl.if_then_else", attributes());
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.scalar("condition", args.get(0), DType.BOOL);
        return TensorType.UNIT;
    }
}
