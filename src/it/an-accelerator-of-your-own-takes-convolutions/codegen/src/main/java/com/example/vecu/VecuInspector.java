// SPDX-License-Identifier: Apache-2.0
package com.example.vecu;

import io.kiln.artifact.Artifact;
import io.kiln.module.inspect.ArtifactInspector;
import java.util.ArrayList;
import java.util.List;

/** {@code mvn kiln:inspect -Dkiln.file=… -Dkiln.inspector=list-commands}. */
public final class VecuInspector implements ArtifactInspector {
    @Override
    public String name() {
        return "list-commands";
    }

    @Override
    public Scope scope() {
        return Scope.ARTIFACT;
    }

    @Override
    public boolean accepts(Artifact artifact) {
        return artifact.loader().equals(VecuCodegen.NAME);
    }

    @Override
    public List<String> inspect(List<Artifact> artifacts) {
        List<String> lines = new ArrayList<>();
        for (Artifact file : artifacts) {
            for (Program program : Program.read(file.content(), file.fileName())) {
                lines.add(program.function());
                program.commands().forEach(command -> lines.add("  " + command.text()));
            }
        }
        return lines;
    }
}
