// SPDX-License-Identifier: Apache-2.0
package io.kiln.module.inspect;

import io.kiln.artifact.Artifact;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;

/** An inspector of one artifact as a value. */
record BuiltInInspector(String name, Predicate<Artifact> accepted, Function<Artifact, List<String>> text)
        implements ArtifactInspector {
    @Override
    public Scope scope() {
        return Scope.ARTIFACT;
    }

    @Override
    public boolean accepts(Artifact artifact) {
        return accepted.test(artifact);
    }

    @Override
    public List<String> inspect(List<Artifact> artifacts) {
        return artifacts.stream()
                .flatMap(artifact -> text.apply(artifact).stream())
                .toList();
    }
}
