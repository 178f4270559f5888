// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.spi.ArtifactFile;
import io.kiln.spi.ElementType;
import java.nio.ByteBuffer;
import java.util.List;

/** Turns values of the engine into those of the interface that lasts, and back. */
public final class PromisedForms {
    private PromisedForms() {}

    /** The type of elements under its promised name, which is the same. */
    public static ElementType of(DType type) {
        return ElementType.valueOf(type.name());
    }

    /** The engine's type of elements. */
    public static DType dtype(ElementType type) {
        return DType.valueOf(type.name());
    }

    public static List<ArtifactFile> of(List<Artifact> artifacts) {
        return artifacts.stream().map(PromisedForms::of).toList();
    }

    public static ArtifactFile of(Artifact artifact) {
        return new ArtifactFile(
                artifact.codegenId(),
                artifact.loader(),
                artifact.fileName(),
                artifact.content().buffer(),
                artifact.targetKey());
    }

    /**
     * The file as an artifact.
     *
     * @throws io.kiln.base.KilnException with all names that are wrong
     */
    public static Artifact artifact(ArtifactFile file) {
        return new Artifact(file.codeGenerator(), file.loader(), file.name(), bytes(file.content()), file.targetKey());
    }

    /** A copy of what is left in a buffer. */
    public static Bytes bytes(ByteBuffer buffer) {
        byte[] content = new byte[buffer.remaining()];
        buffer.duplicate().get(content);
        return Bytes.wrap(content);
    }
}
