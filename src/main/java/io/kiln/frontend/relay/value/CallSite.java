// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.value;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** One call of the text: what a rule reads to make operators of it. */
public interface CallSite {
    Attributes attributes();

    List<Value> args();

    /** Whether Kiln printed the call, as a comment behind it says: then it is one operator of a function and stays one. */
    boolean isOwn();

    /** Appends an operator, and returns what it computes. */
    Arg emit(Op op, List<? extends Arg> args);

    /** The type of a value in the function. */
    TensorType type(Arg arg);

    /** The operator that computes a value; empty for inputs and constants. */
    Optional<Binding> producer(Arg arg);

    /** Notes that one operator replaces the operator that computes a value. The replaced one is left out, unless something else reads it. */
    void supersede(Arg arg);

    /**
     * The value at an argument position.
     *
     * @throws IllegalArgumentException if there is none
     */
    default Value value(int index) {
        if (index >= args().size()) {
            throw new IllegalArgumentException("it has " + args().size() + " arguments, and needs " + (index + 1));
        }
        return args().get(index);
    }

    /** Refuses a call that has another number of arguments. */
    default void arity(int count) {
        if (args().size() != count) {
            throw new IllegalArgumentException("it takes " + count + " arguments, not " + args().size());
        }
    }

    /** An argument as the text has it. */
    default Arg plain(int index) {
        return Layouts.plain(this, value(index));
    }

    /** A constant argument as the text has it. */
    default Constant constant(int index) {
        if (plain(index) instanceof Constant constant) {
            return constant;
        }
        throw new IllegalArgumentException("argument " + (index + 1) + " is not constant; it must be a number,"
                + " meta[relay.Constant][n] or a parameter of the .params file");
    }

    /** All arguments from a position on as the text has them. */
    default List<Arg> plainFrom(int index) {
        return IntStream.range(index, args().size()).mapToObj(this::plain).toList();
    }

    /** Appends an operator of all arguments as the text has them. */
    default Value compute(Op op) {
        Arg result = emit(op, plainFrom(0));
        return Value.plain(result, type(result));
    }
}
