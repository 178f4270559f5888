// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import io.kiln.artifact.ArchivePaths;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.base.Bytes;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * What a file is in an archive, which its folder tells.
 *
 * @param kind the kind of the folder's files
 * @param loader their loader
 * @param targetKey the target for which they were made
 * @param fileName path below the folder
 */
record ArchivePlace(ArtifactKind kind, String loader, String targetKey, String fileName) {
    private static final List<ArtifactKind> NATIVE =
            Arrays.stream(ArtifactKind.values()).filter(ArtifactKind::isNative).toList();

    /** The place of a file; empty for a file that is not an artifact, such as {@code metadata.json}. */
    static Optional<ArchivePlace> of(String path) {
        if (path.equals(ArchivePaths.RELAY_OPERATORS)) {
            return Optional.empty();
        }
        String[] parts = path.split("/", 4);
        if (parts[0].equals(ArchivePaths.CODEGEN)) {
            return parts.length < 4 ? Optional.empty() : Optional.of(code(parts[1], parts[2], parts[3]));
        }
        return Arrays.stream(ArtifactKind.values())
                .filter(kind -> !kind.isNative() && kind != ArtifactKind.PAYLOAD)
                .filter(kind -> path.startsWith(ArchivePaths.folder(kind) + "/"))
                .findFirst()
                .map(kind -> new ArchivePlace(
                        kind,
                        kind.loader(),
                        Artifact.HOST,
                        path.substring(ArchivePaths.folder(kind).length() + 1)));
    }

    private static ArchivePlace code(String key, String folder, String fileName) {
        ArtifactKind kind = NATIVE.stream()
                .filter(found -> ArchivePaths.folder(found).equals(ArchivePaths.code(Artifact.HOST, folder)))
                .findFirst()
                .orElse(ArtifactKind.PAYLOAD);
        return new ArchivePlace(kind, kind.isNative() ? Artifact.NATIVE : folder, key, fileName);
    }

    /** Whether these files, those of the runtime and templates, belong to all models of an archive rather than to one. */
    boolean isShared() {
        return kind == ArtifactKind.RUNTIME || kind == ArtifactKind.TEMPLATE;
    }

    /** Whether these files carry code. */
    boolean isCode() {
        return kind == ArtifactKind.SOURCE || kind == ArtifactKind.OBJECT;
    }

    /** Whether a folder of this name has a meaning already, so that no loader can have the name. */
    static boolean isTaken(String loader) {
        return NATIVE.stream()
                .anyMatch(kind -> ArchivePaths.folder(kind).equals(ArchivePaths.code(Artifact.HOST, loader)));
    }

    Artifact artifact(String name, Bytes content) {
        String codegen = kind.isNative() ? Artifact.FOREIGN : Artifact.FOREIGN + "-" + loader;
        return new Artifact(codegen, loader, name, content, targetKey);
    }
}
