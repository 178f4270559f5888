// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

import java.util.List;

/** Tells people what is in files of model libraries. A service ({@code META-INF/services/io.kiln.spi.ArtifactInspector}). */
public interface ArtifactInspector {
    /** Which files are looked at together. */
    enum Scope {
        /** Each file by itself. */
        ARTIFACT,
        /** All files of one code generator. */
        CODEGEN,
        /** All files of one loader. */
        LOADER
    }

    /**
     * The name by which people ask for it, in {@code kiln.inspector}.
     *
     * @return such as {@code list-commands}
     */
    String name();

    /**
     * Which files it gets together.
     *
     * @return each by itself, unless it says otherwise
     */
    default Scope scope() {
        return Scope.ARTIFACT;
    }

    /**
     * Whether it can say something about a file.
     *
     * @param file one file
     * @return false to leave it out
     */
    boolean accepts(ArtifactFile file);

    /**
     * Describes files.
     *
     * @param files those accepted
     * @return lines
     * @throws ExtensionFailure if they are damaged
     */
    List<String> inspect(List<ArtifactFile> files);
}
