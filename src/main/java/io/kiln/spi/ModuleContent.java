// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;

/** The content of a module of one type key. Contents that are the same are equal. */
public interface ModuleContent {
    /**
     * Writes what a {@link ModuleLoader} of the same key reads.
     *
     * @param out the library's modules
     */
    void write(BlobWriter out);

    /**
     * Names of the functions that the module defines.
     *
     * @return in its order
     */
    default List<String> functions() {
        return List.of();
    }

    /**
     * The module as files: source text, device code.
     *
     * @return content by name
     */
    default Map<String, ByteBuffer> files() {
        return Map.of();
    }

    /**
     * Further information for people.
     *
     * @return a line each
     */
    default List<String> details() {
        return List.of();
    }
}
