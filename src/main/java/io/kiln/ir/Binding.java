// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import java.util.List;

/** One operator call of a function in A-normal form; its result is referred to by its id. */
public record Binding(int id, Op op, List<Arg> args, TensorType type, Origin origin) {
    public Binding {
        args = List.copyOf(args);
    }

    /**
     * Multiply-accumulates with the operator's weights, padding included; 0 without weights, or if weights are
     * computed.
     */
    public long macs() {
        if (!op.weights().stream().map(args::get).allMatch(Constant.class::isInstance)) {
            return 0;
        }
        long weights =
                op.weights().stream().mapToLong(i -> constant(i).elements()).sum();
        return weights == 0 ? 0 : type.shape().elements() / type.shape().dim(-1) * weights;
    }

    /** The constant at an argument position; only valid where the operator requires one. */
    public Constant constant(int index) {
        return (Constant) args.get(index);
    }

    /** The id at an argument position; only valid where the argument is not constant. */
    public int ref(int index) {
        return ((Arg.Ref) args.get(index)).id();
    }
}
