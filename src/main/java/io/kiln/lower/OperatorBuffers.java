// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.tir.Buffer;
import java.util.ArrayList;
import java.util.List;

/** The pointer parameters of an operator: its inputs in order, then its output. */
public final class OperatorBuffers {
    private final FusedOperator op;
    private final Tables tables;
    private final List<Buffer> inputs = new ArrayList<>();
    private final Buffer output;

    public OperatorBuffers(FusedOperator op, Tables tables) {
        this.op = op;
        this.tables = tables;
        List<Integer> ids = op.inputs();
        for (int id : ids) {
            int argument = op.root().args().indexOf(new Arg.Ref(id));
            String name = ids.size() == 1 ? "input" : "input" + inputs.size();
            inputs.add(new Buffer(
                    name,
                    op.rootTypes().get(argument).dtype(),
                    op.rootTypes().get(argument).shape().elements(),
                    Buffer.Scope.INPUT));
        }
        output = new Buffer("output", op.type().dtype(), op.type().shape().elements(), Buffer.Scope.OUTPUT);
    }

    /** The buffer of an argument: a parameter, or a table if the argument is constant. */
    public Buffer argument(int index) {
        Arg arg = op.root().args().get(index);
        if (arg instanceof Constant constant) {
            return tables.add("operand" + index, constant.type().dtype(), constant.data());
        }
        return inputs.get(op.inputs().indexOf(((Arg.Ref) arg).id()));
    }

    public Buffer output() {
        return output;
    }

    /** Inputs, then the output. */
    public List<Buffer> parameters() {
        List<Buffer> parameters = new ArrayList<>(inputs);
        parameters.add(output);
        return parameters;
    }
}
