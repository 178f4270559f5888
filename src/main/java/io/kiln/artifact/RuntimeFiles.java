// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.base.ResourceTree;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Kiln's own C runtime and the templates of an archive, as artifacts sorted by name. */
public final class RuntimeFiles {
    private static final String CODEGEN_ID = "crt";

    private RuntimeFiles() {}

    /** {@code include/…} and {@code src/…} of the whole C runtime. */
    public static List<Artifact> runtime() {
        return runtime(EnumSet.allOf(RuntimeFeature.class));
    }

    /** The files of these features, and of all features that they need. */
    public static List<Artifact> runtime(Set<RuntimeFeature> features) {
        Set<RuntimeFeature> needed = RuntimeFeature.closure(features);
        return files("crt", ArtifactKind.RUNTIME).stream()
                .filter(file -> needed.stream().anyMatch(feature -> feature.has(file.fileName())))
                .toList();
    }

    /** Starting points for the user's own firmware: settings and platform hooks. */
    public static List<Artifact> templates() {
        return files("templates/mlf", ArtifactKind.TEMPLATE);
    }

    private static List<Artifact> files(String root, ArtifactKind kind) {
        List<Artifact> files = ResourceTree.read(root).entrySet().stream()
                .map(file -> Artifact.of(CODEGEN_ID, kind, file.getKey(), file.getValue()))
                .toList();
        if (files.isEmpty()) {
            throw new IllegalStateException("Kiln's jar has no folder " + root);
        }
        return files;
    }
}
