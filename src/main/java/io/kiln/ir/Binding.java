// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.EthosU;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** One operator call of a function in A-normal form; its result is referred to by its id. */
public record Binding(int id, Op op, List<Arg> args, TensorType type, Origin origin) {
    public Binding {
        args = List.copyOf(args);
    }

    /** Ids of the values that it reads, once for each argument. */
    public List<Integer> reads() {
        return args.stream()
                .filter(Arg.Ref.class::isInstance)
                .map(arg -> ((Arg.Ref) arg).id())
                .toList();
    }

    /** The call with another operator. */
    public Binding with(Op other) {
        return new Binding(id, other, args, type, origin);
    }

    /** The call with other arguments. */
    public Binding with(List<? extends Arg> others) {
        return new Binding(id, op, List.copyOf(others), type, origin);
    }

    /** The call that reads others in place of some values, by their ids. */
    public Binding reading(Map<Integer, ? extends Arg> others) {
        return with(args.stream().map(arg -> arg.replaced(others)).toList());
    }

    /** The call with another argument at a position. */
    public Binding with(int position, Arg other) {
        List<Arg> others = new ArrayList<>(args);
        others.set(position, other);
        return with(others);
    }

    /**
     * Multiply-accumulates with the operator's weights, padding included; 0 without weights, or if weights are
     * computed.
     */
    public long macs() {
        if (op instanceof EthosU part) {
            return EthosU.macs(constant(part.payload()).data());
        }
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
