// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.Bytes;
import java.util.List;
import java.util.Map;

/** The content of a module of one type key. Payloads with the same content are equal. */
public interface ModulePayload {
    /** Writes what a {@link ModuleLoader} of the same key reads. */
    void write(ModuleWriter out);

    /** Names of the functions that the module defines, in its order. */
    default List<String> functions() {
        return List.of();
    }

    /** The module's content as files by name: source text, device code, a graph. */
    default Map<String, Bytes> files() {
        return Map.of();
    }

    /** Further information for people, a line each: constants, signatures. */
    default List<String> details() {
        return List.of();
    }

    /** Whether the module is linked into the shared library that carries the tree, rather than stored in the blob. */
    default boolean isLinked() {
        return false;
    }
}
