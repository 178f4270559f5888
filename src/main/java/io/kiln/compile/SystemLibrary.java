// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.ModelLibrary;
import io.kiln.codegen.Origin;
import io.kiln.executor.aot.SystemLibrarySource;
import io.kiln.target.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The system library of several models: an image has one, whatever it holds. */
public final class SystemLibrary {
    private SystemLibrary() {}

    /**
     * The same models, the first of which brings a system library with the packed functions of all.
     *
     * @param models at least one, none of which has a system library of its own
     */
    public static List<ModelLibrary> shared(List<ModelLibrary> models) {
        List<String> functions = models.stream()
                .flatMap(model -> model.metadata().api().functions().stream())
                .toList();
        ModelLibrary first = models.get(0);
        String names = models.stream().map(model -> model.metadata().name()).collect(Collectors.joining(", "));
        Origin origin = new Origin(names, Target.parse(first.metadata().target()));
        List<Artifact> artifacts = new ArrayList<>(first.artifacts().artifacts());
        artifacts.add(SystemLibrarySource.shared(origin, functions).artifact());
        List<ModelLibrary> shared = new ArrayList<>(models);
        shared.set(0, new ModelLibrary(first.metadata(), new ArtifactSet(artifacts), first.origin()));
        return List.copyOf(shared);
    }
}
