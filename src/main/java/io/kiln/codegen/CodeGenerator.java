// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen;

import io.kiln.artifact.Artifact;
import java.util.List;

/** Makes files of a model library from functions of the loop IR. There is one for each kind of target. */
public interface CodeGenerator {
    /** The files of these functions; each artifact has the target of the unit's origin. */
    List<Artifact> generate(CodeUnit unit);

    /**
     * The files of a model beside its functions, as archives for this kind of target have them: C sources of the entry point stay, or become
     * objects. All else stays.
     *
     * @param files C sources with the headers that they include, and more
     */
    default List<Artifact> finish(List<Artifact> files) {
        return files;
    }
}
