// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen;

import io.kiln.artifact.Artifact;
import io.kiln.target.TargetKind;
import java.util.List;

/** Turns functions of the loop IR into files of a model library. There is one for each kind of target. */
public interface CodeGenerator {
    /** The kind of target that it generates code for. */
    TargetKind kind();

    /** The files of these functions; each is an artifact for the target that the unit's origin states. */
    List<Artifact> generate(CodeUnit unit);
}
