// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import java.util.Set;

/**
 * Reads the payloads of some type keys from a blob, where their length is not stored: only the loader knows where one ends. A Java service
 * ({@code META-INF/services/io.kiln.module.ModuleLoader}).
 */
public interface ModuleLoader {
    /** The type keys, such as {@code cuda}. */
    Set<String> typeKeys();

    /**
     * Reads one payload from where the input stands.
     *
     * @param typeKey one of {@link #typeKeys}
     * @throws io.kiln.base.KilnException with the offset of what is wrong
     */
    ModulePayload load(String typeKey, ModuleReader in);
}
