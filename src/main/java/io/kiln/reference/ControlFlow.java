// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import io.kiln.ir.Function;
import io.kiln.ir.op.If;
import io.kiln.ir.op.While;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.WritingKernels.Outcome;
import java.util.ArrayList;
import java.util.List;

/** Operators that call functions. */
final class ControlFlow {
    private ControlFlow() {}

    static Outcome choose(If op, Function caller, List<Tensor> args, LoopBudget loops) {
        boolean holds = args.get(0).scalarInt() != 0;
        Function called = caller.functions().get(holds ? op.then() : op.otherwise());
        List<Tensor> variables = new ArrayList<>(args.subList(op.firstVariable(), args.size()));
        List<Tensor> written = new ArrayList<>(call(
                called,
                args.subList(1, op.firstResult()),
                variables,
                holds ? op.thenVariables() : op.otherwiseVariables(),
                loops));
        written.addAll(variables);
        return outcome(written);
    }

    static Outcome repeat(While op, Function caller, List<Tensor> args, LoopBudget loops) {
        List<Tensor> loop = args.subList(0, op.loopVariables());
        List<Tensor> variables = new ArrayList<>(args.subList(op.loopVariables(), args.size()));
        Function condition = caller.functions().get(op.condition());
        Function body = caller.functions().get(op.body());
        while (call(condition, loop, variables, op.conditionVariables(), loops)
                        .get(0)
                        .scalarInt()
                != 0) {
            loops.spend(body.name());
            loop = call(body, loop, variables, op.bodyVariables(), loops);
        }
        List<Tensor> written = new ArrayList<>(loop);
        written.addAll(variables);
        return outcome(written);
    }

    private static Outcome outcome(List<Tensor> written) {
        return new Outcome(Tensor.of(TensorType.UNIT, new int[0]), written);
    }

    /** Calls a function that uses some of the caller's variables, which are changed. */
    private static List<Tensor> call(
            Function called, List<Tensor> inputs, List<Tensor> variables, List<Integer> used, LoopBudget loops) {
        List<Tensor> own = new ArrayList<>(used.stream().map(variables::get).toList());
        List<Tensor> results = Interpreter.call(called, inputs, own, loops);
        for (int i = 0; i < used.size(); i++) {
            variables.set(used.get(i), own.get(i));
        }
        return results;
    }
}
