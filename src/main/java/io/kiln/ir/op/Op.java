// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.base.DType;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * An operator with its attributes: the one definition of what it is called, takes, computes and allows. Argument order is stated by each
 * operator. The interpreter's kernels, the lowerings and the frontends' rules are registered by its class; tests find what is missing.
 */
public interface Op {
    /** Relay's name, or {@code tfl.*} for an operator of our own. */
    String name();

    /** Number of arguments. */
    int arity();

    /** Attributes by Relay's names, in Relay's order; values are Integer, Double, String or lists of these. Some operators have none. */
    default Map<String, Object> attributes() {
        return Map.of();
    }

    /** How the operator on arguments of these types is written in Relay's text. */
    default Spelling spelling(List<TensorType> args) {
        return Spelling.of(this);
    }

    /** Number of leading arguments that are tensors of data; those behind are constants or variables. */
    default int operands() {
        return 1;
    }

    /** Element types of the first argument that Kiln compiles the operator for, of those that {@link #infer} takes. */
    default Set<DType> dataTypes() {
        return Set.of(DType.values());
    }

    /** Holds attributes and constants of a call that {@link #infer} takes against what Kiln compiles. */
    default void check(Arguments args) {}

    /** Positions of the arguments that it changes; each is a variable of the function. Most operators change none. */
    default List<Integer> writes() {
        return List.of();
    }

    /** What the argument at a position is. */
    default Role role(int position) {
        return writes().contains(position) ? Role.STATE : position < operands() ? Role.DATA : Role.CONSTANT;
    }

    /** What passes and lowerings may ask about. */
    default Set<Trait> traits() {
        return Set.of(Trait.TAKES_CLIP);
    }

    default boolean has(Trait trait) {
        return traits().contains(trait);
    }

    /**
     * Positions of the weights, each element of which is multiplied once for every vector along the result's last axis. These products
     * are the operator's multiply-accumulates.
     */
    default List<Integer> weights() {
        return List.of();
    }

    /**
     * The result's type.
     *
     * @throws IllegalArgumentException with a sentence for users if the arguments do not fit
     */
    TensorType infer(List<TensorType> args);
}
