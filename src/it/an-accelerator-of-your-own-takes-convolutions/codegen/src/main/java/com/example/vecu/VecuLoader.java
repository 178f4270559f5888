// SPDX-License-Identifier: Apache-2.0
package com.example.vecu;

import io.kiln.artifact.Artifact;
import io.kiln.module.ArtifactLoader;
import io.kiln.module.ModulePayload;
import io.kiln.module.ModuleWriter;
import java.util.List;
import java.util.Set;

/** Loads command streams on a computer, which can tell what is in them. */
public final class VecuLoader implements ArtifactLoader {
    private record Streams(List<Program> programs) implements ModulePayload {
        @Override
        public void write(ModuleWriter out) {
            out.string(Program.write(programs));
        }

        @Override
        public List<String> functions() {
            return programs.stream().map(Program::function).toList();
        }
    }

    @Override
    public Set<String> names() {
        return Set.of(VecuCodegen.NAME);
    }

    @Override
    public ModulePayload load(String name, List<Artifact> group) {
        return new Streams(group.stream()
                .flatMap(file -> Program.read(file.content(), file.fileName()).stream())
                .toList());
    }
}
