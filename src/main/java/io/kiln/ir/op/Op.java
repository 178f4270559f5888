// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.base.DType;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * An operator with its attributes: the one definition of its name, arguments, result and rules. Each operator states
 * its argument order. The interpreter's kernels, the lowerings and the frontends' rules are registered by its class;
 * tests find missing ones.
 */
public interface Op {
    /** Relay's name, or {@code tfl.*} for an operator of Kiln's own. */
    String name();

    /** Number of arguments. */
    int arity();

    /** Attributes by Relay's names, in Relay's order; values are Integer, Double, String or lists of these. Some operators have none. */
    default Map<String, Object> attributes() {
        return Map.of();
    }

    /** The operator's form in Relay text for arguments of these types. */
    default Spelling spelling(List<TensorType> args) {
        return Spelling.of(this);
    }

    /** Number of leading arguments that are data tensors; the others are constants or variables. */
    default int operands() {
        return 1;
    }

    /** Element types of the first argument that Kiln compiles, among those accepted by {@link #infer}. */
    default Set<DType> dataTypes() {
        return Set.of(DType.values());
    }

    /** Checks whether Kiln compiles the attributes and constants of a call accepted by {@link #infer}. */
    default void check(Arguments args) {}

    /** Positions of the arguments that it changes, each a variable of the function. Most operators change none. */
    default List<Integer> writes() {
        return List.of();
    }

    /** The role of the argument at a position. */
    default Role role(int position) {
        return writes().contains(position) ? Role.STATE : position < operands() ? Role.DATA : Role.CONSTANT;
    }

    /** Properties for passes and lowerings. */
    default Set<Trait> traits() {
        return Set.of(Trait.TAKES_CLIP);
    }

    default boolean has(Trait trait) {
        return traits().contains(trait);
    }

    /**
     * Positions of the weights. Each element of a weight is multiplied once for every vector along the result's last
     * axis; these products are the operator's multiply-accumulates.
     */
    default List<Integer> weights() {
        return List.of();
    }

    /**
     * The result's type.
     *
     * @throws IllegalArgumentException with a message for users if the arguments do not fit
     */
    TensorType infer(List<TensorType> args);
}
