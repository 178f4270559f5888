// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

import io.kiln.ir.type.TensorType;
import java.util.Map;

/** An argument of an operator call: a computed value or a constant. */
public sealed interface Arg permits Arg.Ref, Constant {
    /** A parameter or binding by its id. */
    record Ref(int id) implements Arg {}

    /**
     * Type of the value.
     *
     * @param types of computed values by id
     */
    default TensorType type(Map<Integer, TensorType> types) {
        return this instanceof Constant constant ? constant.type() : types.get(((Ref) this).id());
    }

    /**
     * The value that takes this one's place; itself if there is none.
     *
     * @param others by ids of the values that they replace
     */
    default Arg replaced(Map<Integer, ? extends Arg> others) {
        Arg other = this instanceof Ref ref ? others.get(ref.id()) : this;
        return other == null ? this : other;
    }
}
