// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import io.kiln.base.DType;
import io.kiln.tir.Buffer;
import io.kiln.tir.PrimFunc;
import java.util.ArrayList;
import java.util.List;

/**
 * Type, name and parameters of a C function.
 *
 * @param type return type
 * @param parameters each with its type, such as {@code int32_t count}
 */
public record CSignature(String type, String name, List<String> parameters) {
    public CSignature {
        parameters = List.copyOf(parameters);
    }

    /** A function that returns 0 or an error code. */
    public static CSignature fallible(String name, List<String> parameters) {
        return new CSignature("int32_t", name, parameters);
    }

    /** {@code int32_t name(const int8_t* restrict input, ...)}. */
    public static CSignature of(PrimFunc function) {
        List<String> parameters = new ArrayList<>();
        for (Buffer buffer : function.buffers()) {
            String constness = buffer.isWritable() ? "" : "const ";
            parameters.add(constness + buffer.dtype().cName() + "* restrict " + buffer.name());
        }
        function.scalars().forEach(s -> parameters.add(s.dtype().cName() + " " + s.name()));
        return fallible(function.name(), parameters);
    }

    /** Whether a function's declaration needs {@code stdbool.h}. */
    public static boolean needsBool(PrimFunc function) {
        return function.buffers().stream().anyMatch(buffer -> buffer.dtype() == DType.BOOL);
    }

    /** The declaration, without a semicolon. */
    String text() {
        return type + " " + name + "(" + (parameters.isEmpty() ? "void" : String.join(", ", parameters)) + ")";
    }
}
