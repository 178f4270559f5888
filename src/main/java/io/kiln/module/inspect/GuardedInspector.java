// SPDX-License-Identifier: Apache-2.0
package io.kiln.module.inspect;

import io.kiln.artifact.Artifact;
import io.kiln.base.Extensions;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.List;
import java.util.function.Supplier;

/**
 * An inspector that may be foreign code: an exception of it becomes a message that names it.
 *
 * @param inspector the inspector itself
 */
record GuardedInspector(ArtifactInspector inspector) implements ArtifactInspector {
    @Override
    public String name() {
        return guarded("state its name", inspector::name);
    }

    @Override
    public Scope scope() {
        return guarded("state its scope", inspector::scope);
    }

    @Override
    public boolean accepts(Artifact artifact) {
        return guarded("say whether it accepts " + artifact.fileName(), () -> inspector.accepts(artifact));
    }

    @Override
    public List<String> inspect(List<Artifact> artifacts) {
        return guarded(
                "inspect "
                        + String.join(
                                ", ", artifacts.stream().map(Artifact::fileName).toList()),
                () -> List.copyOf(inspector.inspect(artifacts)));
    }

    private <T> T guarded(String what, Supplier<T> call) {
        return Extensions.call(
                call,
                why -> new KilnException(Failure.EXTENSION.problem(
                        "it could not " + what + ": " + why,
                        "inspector " + inspector.getClass().getName())));
    }
}
