// SPDX-License-Identifier: Apache-2.0
package io.kiln.module.inspect;

import io.kiln.artifact.Artifact;
import java.util.List;

/** Tells people what is in artifacts. A Java service ({@code META-INF/services/io.kiln.module.inspect.ArtifactInspector}). */
public interface ArtifactInspector {
    /** Which artifacts are looked at together. */
    enum Scope {
        /** Each artifact is looked at by itself. */
        ARTIFACT,
        /** All artifacts of one code generator are looked at together. */
        CODEGEN,
        /** All artifacts of one loader are looked at together. */
        LOADER
    }

    /** The name by which people ask for it, such as {@code list-functions}. */
    String name();

    /** Which artifacts it gets together. */
    Scope scope();

    /** Whether it can say something about an artifact. */
    boolean accepts(Artifact artifact);

    /**
     * Describes artifacts.
     *
     * @param artifacts those accepted: one, or all of a code generator or loader
     * @return lines
     * @throws io.kiln.base.KilnException if they are damaged
     */
    List<String> inspect(List<Artifact> artifacts);
}
