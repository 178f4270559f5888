// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

import io.kiln.ir.op.Conv2d;
import io.kiln.ir.op.Dense;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.QnnConv2d;
import io.kiln.ir.op.QnnDense;
import io.kiln.ir.type.TensorType;
import java.util.List;

/** One operator call of a function in A-normal form; what it computes is known by its id. */
public record Binding(int id, Op op, List<Arg> args, TensorType type, Origin origin) {
    public Binding {
        args = List.copyOf(args);
    }

    /** Multiply-accumulates by the operator's definition, padding included; 0 for all but convolutions and dense layers. */
    public long macs() {
        boolean layer =
                op instanceof Conv2d || op instanceof QnnConv2d || op instanceof Dense || op instanceof QnnDense;
        return layer
                ? type.shape().elements() / type.shape().dim(-1) * constant(1).elements()
                : 0;
    }

    /** The constant at an argument position; only where the operator demands one. */
    public Constant constant(int index) {
        return (Constant) args.get(index);
    }

    /** The id at an argument position; only where the argument is not constant. */
    public int ref(int index) {
        return ((Arg.Ref) args.get(index)).id();
    }
}
