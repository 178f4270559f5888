// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.artifact.Artifact;
import java.util.List;
import java.util.Set;

/**
 * Makes a module of the artifacts that name it as their loader: the last step of the load process on this computer. A Java service
 * ({@code META-INF/services/io.kiln.module.ArtifactLoader}).
 */
public interface ArtifactLoader {
    /** The loaders' names that it stands for, such as {@code cuda}. */
    Set<String> names();

    /**
     * Loads a group.
     *
     * @param name one of {@link #names}; the module's type key
     * @param group all artifacts with that loader, sorted by target key, code generator and file name
     * @throws io.kiln.base.KilnException if they do not make a module
     */
    ModulePayload load(String name, List<Artifact> group);
}
