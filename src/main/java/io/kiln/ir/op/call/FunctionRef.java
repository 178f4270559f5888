// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.call;

import io.kiln.ir.op.Attribute;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/** A function called by an operator, as an index among its caller's functions. */
public record FunctionRef(int index) {
    static final int MAX_ARGUMENTS = 256;

    /** An attribute that names a function. */
    static <O> Attribute<O, Integer> attribute(String name, ToIntFunction<O> get) {
        return Attribute.function(name, get, FunctionRef::new);
    }

    /** An attribute that tells which variables a function uses. */
    static <O> Attribute<O, List<Integer>> variables(String name, Function<O, List<Integer>> get) {
        return Attribute.wholes(name, get, 0, MAX_ARGUMENTS - 1);
    }

    @Override
    public String toString() {
        return "function " + index;
    }
}
