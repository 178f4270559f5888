// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.base.DType;
import io.kiln.ir.op.Operand.Role;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * An operator with its attributes. Its {@link Signature} is the one definition of its name, arguments, result and
 * rules, from which everything below follows. The interpreter's kernels, the lowerings and the frontends' rules are
 * registered by its class; tests find missing ones.
 */
public interface Op {
    /** What its signature says of this operator. */
    Card<?> card();

    /** Relay's name, or {@code tfl.*} for an operator of Kiln's own. */
    default String name() {
        return card().signature().name();
    }

    /** Number of arguments. */
    default int arity() {
        return card().arity();
    }

    /** Attributes by Relay's names, in Relay's order; values are Integer, Double, String or lists of these. Some operators have none. */
    default Map<String, Object> attributes() {
        return card().attributes();
    }

    /** The operator's form in Relay text for arguments of these types. */
    default Spelling spelling(List<TensorType> args) {
        return card().spelling(args);
    }

    /** Number of leading arguments that are tensors; the others are constants of the operator's own, or variables. */
    default int operands() {
        return card().operands();
    }

    /** Element types of the first argument that Kiln compiles, among those accepted by {@link #infer}. */
    default Set<DType> dataTypes() {
        return card().dataTypes();
    }

    /** Checks whether Kiln compiles the attributes and constants of a call accepted by {@link #infer}. */
    default void check(Arguments args) {
        card().check(args);
    }

    /** Positions of the arguments that it changes, each a variable of the function. Most operators change none. */
    default List<Integer> writes() {
        return card().writes();
    }

    /** The role of the argument at a position. */
    default Role role(int position) {
        return card().role(position);
    }

    /** Properties for passes and lowerings. */
    default Set<Trait> traits() {
        return card().traits();
    }

    default boolean has(Trait trait) {
        return traits().contains(trait);
    }

    /**
     * Positions of the weights. Each element of a weight is multiplied once for every vector along the result's last
     * axis; these products are the operator's multiply-accumulates.
     */
    default List<Integer> weights() {
        return card().weights();
    }

    /**
     * The result's type.
     *
     * @throws IllegalArgumentException with a message for users if the arguments do not fit
     */
    default TensorType infer(List<TensorType> args) {
        return card().infer(args);
    }
}
