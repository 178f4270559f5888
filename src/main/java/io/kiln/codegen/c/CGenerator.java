// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.codegen.CodeGenerator;
import io.kiln.codegen.CodeUnit;
import io.kiln.target.TargetKind;
import java.util.List;

/** Generates C: one source file for each unit, and a header if something of it is copied to RAM. */
public final class CGenerator implements CodeGenerator {
    /** The {@link Artifact#codegenId} of all C that Kiln prints. */
    static final String ID = TargetKind.C.text();

    @Override
    public TargetKind kind() {
        return TargetKind.C;
    }

    @Override
    public List<Artifact> generate(CodeUnit unit) {
        Artifact source = artifact(ArtifactKind.SOURCE, unit.name() + ".c", OperatorFilePrinter.print(unit));
        return unit.ram()
                .header()
                .map(header -> List.of(source, RamHeader.of(unit.origin(), header)))
                .orElseGet(() -> List.of(source));
    }

    static Artifact artifact(ArtifactKind kind, String fileName, String text) {
        return Artifact.ofText(ID, kind, fileName, text);
    }
}
