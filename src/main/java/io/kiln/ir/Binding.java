// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

import io.kiln.ir.op.Conv2d;
import io.kiln.ir.op.Dense;
import io.kiln.ir.op.Lstm;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.QnnConv2d;
import io.kiln.ir.op.QnnDense;
import io.kiln.ir.op.Svdf;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.stream.IntStream;

/** One operator call of a function in A-normal form; what it computes is known by its id. */
public record Binding(int id, Op op, List<Arg> args, TensorType type, Origin origin) {
    public Binding {
        args = List.copyOf(args);
    }

    /**
     * Multiply-accumulates of inputs or states with weights by the operator's definition, padding included; 0 for all but convolutions,
     * dense and recurrent layers, and for weights that are computed.
     */
    public long macs() {
        if (op instanceof Svdf) {
            return type.shape().dim(0)
                    * ((long) constant(1).elements() + constant(2).elements());
        }
        if (op instanceof Lstm) {
            long weights = IntStream.range(Lstm.INPUT_WEIGHTS, Lstm.BIASES)
                    .mapToLong(i -> constant(i).elements())
                    .sum();
            return (long) type.shape().dim(0) * type.shape().dim(1) * weights;
        }
        boolean layer =
                op instanceof Conv2d || op instanceof QnnConv2d || op instanceof Dense || op instanceof QnnDense;
        return layer && args.get(1) instanceof Constant
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
