// SPDX-License-Identifier: Apache-2.0
package com.example.vecu;

import io.kiln.spi.ArtifactFile;
import io.kiln.spi.ArtifactInspector;
import java.util.ArrayList;
import java.util.List;

/** {@code mvn kiln:inspect -Dkiln.file=… -Dkiln.inspector=list-commands}. */
public final class VecuInspector implements ArtifactInspector {
    @Override
    public String name() {
        return "list-commands";
    }

    @Override
    public boolean accepts(ArtifactFile file) {
        return file.loader().equals(VecuCodegen.NAME);
    }

    @Override
    public List<String> inspect(List<ArtifactFile> files) {
        List<String> lines = new ArrayList<>();
        for (ArtifactFile file : files) {
            for (Program program : Program.read(file)) {
                lines.add(program.function());
                program.commands().forEach(command -> lines.add("  " + command.text()));
            }
        }
        return lines;
    }
}
