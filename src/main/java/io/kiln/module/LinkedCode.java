// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.LazyList;
import java.util.List;

/**
 * Code that is part of the shared library itself: a module of key {@code c}, {@code llvm} or {@code static_library} before export, {@code library}
 * after loading. Its entry in the blob, {@code _lib}, has no payload.
 *
 * @param functions names of its functions; empty if they are not known
 */
public record LinkedCode(List<String> functions) implements ModulePayload {
    /** The type key of a loaded library. */
    public static final String LIBRARY = "library";

    public LinkedCode {
        functions = LazyList.copyOf(functions);
    }

    @Override
    public void write(ModuleWriter out) {
        // The library carries the code.
    }

    @Override
    public boolean isLinked() {
        return true;
    }
}
