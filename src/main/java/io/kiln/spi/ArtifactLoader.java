// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

import java.util.List;
import java.util.Set;

/**
 * Makes a module of the files that name it as their loader, on this computer. A service ({@code
 * META-INF/services/io.kiln.spi.ArtifactLoader}).
 */
public interface ArtifactLoader {
    /**
     * The loaders' names that it stands for.
     *
     * @return such as {@code vecu}
     */
    Set<String> names();

    /**
     * Loads a group.
     *
     * @param name one of {@link #names}; the module's type key
     * @param files all files with that loader, sorted
     * @return what is in them
     * @throws ExtensionFailure if they do not make a module
     */
    ModuleContent load(String name, List<ArtifactFile> files);
}
