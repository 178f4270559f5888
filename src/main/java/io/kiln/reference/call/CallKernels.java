// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.call;

import static io.kiln.reference.kernel.OperatorKernel.calling;
import static io.kiln.reference.kernel.OperatorKernel.opaque;
import static io.kiln.reference.kernel.OperatorKernel.pure;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.ControlFlow.If;
import io.kiln.ir.op.call.ControlFlow.While;
import io.kiln.ir.op.call.CustomCall;
import io.kiln.ir.op.call.EthosU;
import io.kiln.ir.op.call.EthosU.EthosUTensor;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.OperatorKernel;
import io.kiln.reference.kernel.OperatorKernel.FunctionCalls;
import io.kiln.reference.kernel.OperatorKernel.Outcome;
import io.kiln.reference.kernel.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Kernels of the operators that call functions. */
public final class CallKernels {
    public static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            calling(If.class, CallKernels::choose),
            calling(While.class, CallKernels::repeat),
            opaque(CustomCall.class),
            opaque(EthosU.class),
            pure(EthosUTensor.class, CallKernels::tensor));

    private CallKernels() {}

    private static Outcome choose(If op, List<Tensor> args, TensorType type, FunctionCalls functions) {
        boolean holds = args.get(0).scalarInt() != 0;
        List<Tensor> variables = new ArrayList<>(args.subList(op.firstVariable(), args.size()));
        List<Tensor> written = new ArrayList<>(call(
                functions,
                holds ? op.then() : op.otherwise(),
                args.subList(1, op.firstResult()),
                variables,
                holds ? op.thenVariables() : op.otherwiseVariables()));
        written.addAll(variables);
        return Outcome.of(written);
    }

    private static Outcome repeat(While op, List<Tensor> args, TensorType type, FunctionCalls functions) {
        List<Tensor> loop = args.subList(0, op.loopVariables());
        List<Tensor> variables = new ArrayList<>(args.subList(op.loopVariables(), args.size()));
        while (call(functions, op.condition(), loop, variables, op.conditionVariables())
                        .get(0)
                        .scalarInt()
                != 0) {
            functions.spendIteration(op.body());
            loop = call(functions, op.body(), loop, variables, op.bodyVariables());
        }
        List<Tensor> written = new ArrayList<>(loop);
        written.addAll(variables);
        return Outcome.of(written);
    }

    private static Tensor tensor(EthosUTensor op, List<Tensor> args, TensorType type) {
        return Tensor.read(type, args.get(0).toBytes().part(op.offset(), Math.toIntExact(type.bytes())));
    }

    /** Calls a function, which may change some of the caller's variables. */
    private static List<Tensor> call(
            FunctionCalls functions, int called, List<Tensor> inputs, List<Tensor> variables, List<Integer> used) {
        List<Tensor> own = new ArrayList<>(used.stream().map(variables::get).toList());
        List<Tensor> results = functions.call(called, inputs, own);
        for (int i = 0; i < used.size(); i++) {
            variables.set(used.get(i), own.get(i));
        }
        return results;
    }
}
