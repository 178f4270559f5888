// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.ethosu;

import io.kiln.artifact.Artifact;
import io.kiln.module.ArtifactLoader;
import io.kiln.module.ModulePayload;
import io.kiln.module.ModuleWriter;
import java.util.List;
import java.util.Set;

/** Loads command streams on a computer, for tools. */
public final class EthosULoader implements ArtifactLoader {
    private record Streams(List<Artifact> streams) implements ModulePayload {
        @Override
        public void write(ModuleWriter out) {
            streams.forEach(file -> out.string(file.content()));
        }

        @Override
        public List<String> functions() {
            return streams.stream()
                    .map(file -> file.fileName().substring(0, file.fileName().lastIndexOf('.')))
                    .toList();
        }
    }

    @Override
    public Set<String> names() {
        return Set.of(EthosUCodegen.NAME);
    }

    @Override
    public ModulePayload load(String name, List<Artifact> group) {
        return new Streams(List.copyOf(group));
    }
}
