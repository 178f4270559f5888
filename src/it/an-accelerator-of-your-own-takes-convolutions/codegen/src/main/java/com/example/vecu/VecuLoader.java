// SPDX-License-Identifier: Apache-2.0
package com.example.vecu;

import io.kiln.spi.ArtifactFile;
import io.kiln.spi.ArtifactLoader;
import io.kiln.spi.BlobWriter;
import io.kiln.spi.ModuleContent;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;

/** Loads command streams on a computer, which can tell what is in them. */
public final class VecuLoader implements ArtifactLoader {
    private record Streams(List<Program> programs) implements ModuleContent {
        @Override
        public void write(BlobWriter out) {
            ByteBuffer file = Program.write(programs);
            out.u64(file.remaining()).bytes(file);
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
    public ModuleContent load(String name, List<ArtifactFile> files) {
        return new Streams(
                files.stream().flatMap(file -> Program.read(file).stream()).toList());
    }
}
