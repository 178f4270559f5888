// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.llvm;

import io.kiln.base.DType;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.HashMap;
import java.util.Map;

/**
 * What the names of a function stand for at a place: addresses of buffers, values of constant scalars, memory of mutable ones. The loop IR
 * declares a name once on a path, so that a later declaration of a name replaces an earlier one that has ended.
 */
final class IrScope {
    /**
     * A scalar.
     *
     * @param dtype its type
     * @param text its value; for a mutable one its address
     * @param mutable whether it lies in memory
     */
    record Scalar(DType dtype, String text, boolean mutable) {}

    private final Map<String, String> pointers = new HashMap<>();
    private final Map<String, Scalar> scalars = new HashMap<>();

    void define(Buffer buffer, String address) {
        pointers.put(buffer.name(), address);
    }

    void define(Expr.Var variable, String value) {
        scalars.put(variable.name(), new Scalar(variable.dtype(), value, false));
    }

    void defineMutable(Expr.Var variable, String address) {
        scalars.put(variable.name(), new Scalar(variable.dtype(), address, true));
    }

    /** The address of a buffer's first element; memory of the module is found by its name. */
    String pointer(Buffer buffer) {
        return pointers.getOrDefault(buffer.name(), "@" + buffer.name());
    }

    Scalar scalar(String name) {
        return scalars.get(name);
    }
}
