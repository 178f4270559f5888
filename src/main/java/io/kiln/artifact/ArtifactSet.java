// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.artifact.Artifact.Loader;
import java.util.List;

/** The files of a model library, in a stable order. */
public record ArtifactSet(List<Artifact> artifacts) {
    public ArtifactSet {
        artifacts = List.copyOf(artifacts);
    }

    /** The artifacts of one kind, in order. */
    public List<Artifact> of(Loader loader) {
        return artifacts.stream().filter(a -> a.loader() == loader).toList();
    }
}
