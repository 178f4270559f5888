// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.ethosu;

import io.kiln.artifact.Artifact;
import io.kiln.base.Failure;
import io.kiln.module.inspect.ArtifactInspector;
import io.kiln.npu.DriverPayload;
import java.util.ArrayList;
import java.util.List;

/** Disassembles command streams: {@code mvn kiln:inspect -Dkiln.file=… -Dkiln.inspector=list-npu-commands}. */
public final class EthosUInspector implements ArtifactInspector {
    @Override
    public String name() {
        return "list-npu-commands";
    }

    @Override
    public Scope scope() {
        return Scope.ARTIFACT;
    }

    @Override
    public boolean accepts(Artifact artifact) {
        return artifact.loader().equals(EthosUCodegen.NAME) || DriverPayload.accepts(artifact.content());
    }

    @Override
    public List<String> inspect(List<Artifact> artifacts) {
        List<String> lines = new ArrayList<>();
        for (Artifact file : artifacts) {
            lines.addAll(DriverPayload.read(
                            file.content(),
                            (what, expected) -> Failure.ARCHIVE.exception(what, file.fileName(), expected, ""))
                    .lines());
        }
        return lines;
    }
}
