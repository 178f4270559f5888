// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen;

import java.util.List;
import java.util.Optional;

/**
 * The functions that have the packed signature.
 *
 * @param functions each one; all others take pointers
 * @param checked whether they check their arguments
 */
public record PackedApi(List<PackedFunction> functions, boolean checked) {
    /** No packed functions: all take pointers. */
    public static final PackedApi NONE = new PackedApi(List.of(), false);

    public PackedApi {
        functions = List.copyOf(functions);
    }

    /** The function of this name, if it is packed. */
    public Optional<PackedFunction> find(String name) {
        return functions.stream()
                .filter(function -> function.name().equals(name))
                .findFirst();
    }
}
