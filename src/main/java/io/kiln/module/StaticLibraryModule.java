// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.Bytes;
import io.kiln.base.LazyList;
import java.util.List;
import java.util.Map;

/**
 * An object file that is kept in the blob: {@code static_library} of a tree that was not linked.
 *
 * @param object the object file
 * @param functions names of its functions
 */
public record StaticLibraryModule(Bytes object, List<String> functions) implements ModulePayload {
    public StaticLibraryModule {
        functions = LazyList.copyOf(functions);
    }

    static StaticLibraryModule read(ModuleReader in) {
        return new StaticLibraryModule(in.string("the object"), in.texts("functions"));
    }

    @Override
    public void write(ModuleWriter out) {
        out.string(object).strings(functions);
    }

    @Override
    public Map<String, Bytes> files() {
        return Map.of("object.o", object);
    }
}
