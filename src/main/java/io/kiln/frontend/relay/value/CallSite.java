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

/** One call in the text, as a rule sees it. */
public interface CallSite {
    Attributes attributes();

    List<Value> args();

    /** Whether Kiln printed the call, as a comment after it says; then it stays one operator of a function. */
    boolean isOwn();

    /** Appends an operator, and returns its result. */
    Arg emit(Op op, List<? extends Arg> args);

    /** The elements of a constant in other places, under the constant's name; never an operator of the function. */
    Constant moved(Op op, Constant constant);

    /** The type of a value in the function. */
    TensorType type(Arg arg);

    /** The operator that computes a value; empty for inputs and constants. */
    Optional<Binding> producer(Arg arg);

    /**
     * Marks the operator that computes a value as replaced by another. It is removed, unless something else reads it.
     */
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

    /** An argument in the layout and type of the text. */
    default Arg plain(int index) {
        return Layouts.plain(this, value(index));
    }

    /** A constant argument in the layout and type of the text. */
    default Constant constant(int index) {
        if (plain(index) instanceof Constant constant) {
            return constant;
        }
        throw new IllegalArgumentException("argument " + (index + 1) + " is not constant; it must be a number,"
                + " meta[relay.Constant][n] or a parameter of the .params file");
    }

    /** All arguments from a position on, in the layout and type of the text. */
    default List<Arg> plainFrom(int index) {
        return IntStream.range(index, args().size()).mapToObj(this::plain).toList();
    }

    /** Appends an operator on all arguments, in the layout and type of the text. */
    default Value compute(Op op) {
        Arg result = emit(op, plainFrom(0));
        return Value.plain(result, type(result));
    }
}
