// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

import java.util.Set;

/**
 * Reads the payloads of some type keys from a library of TVM's, where their length is not stored: only the loader knows where one ends. A
 * service ({@code META-INF/services/io.kiln.spi.ModuleLoader}).
 */
public interface ModuleLoader {
    /**
     * The type keys that it reads.
     *
     * @return such as {@code vecu}
     */
    Set<String> typeKeys();

    /**
     * Reads one payload from where the input stands.
     *
     * @param typeKey one of {@link #typeKeys}
     * @param in the library's modules
     * @return what is in it
     */
    ModuleContent load(String typeKey, BlobReader in);
}
