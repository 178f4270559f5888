// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen;

import io.kiln.artifact.Artifact;
import io.kiln.target.TargetKind;
import java.util.List;

/** Makes files of a model library from functions of the loop IR. There is one for each kind of target. */
public interface CodeGenerator {
    /** The kind of target. */
    TargetKind kind();

    /** The files of these functions; each artifact has the target of the unit's origin. */
    List<Artifact> generate(CodeUnit unit);
}
