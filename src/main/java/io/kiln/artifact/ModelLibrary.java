// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import java.util.Optional;

/**
 * A compiled model: the value passed from the compiler to the firmware half.
 *
 * @param metadata names, tensors and sizes
 * @param artifacts its files: generated C, header, Relay text, parameters
 * @param origin the archive from which it was read; empty if Kiln compiled it
 */
public record ModelLibrary(ModelMetadata metadata, ArtifactSet artifacts, Optional<ArchiveOrigin> origin) {
    /** A library without an archive. */
    public ModelLibrary(ModelMetadata metadata, ArtifactSet artifacts) {
        this(metadata, artifacts, Optional.empty());
    }

    /** Whether the C of signal processing before the model is among its files. */
    public boolean hears() {
        String header = new InterfaceNames(metadata.name()).preprocessHeader();
        return artifacts.of(ArtifactKind.HEADER).stream()
                .anyMatch(file -> file.fileName().equals(header));
    }

    /** Whether it came from an archive rather than from Kiln's own compiler. */
    public boolean isForeign() {
        return artifacts.artifacts().stream().anyMatch(Artifact::isForeign);
    }

    /**
     * The archive that a model library was read from.
     *
     * @param fileName its name, without folders
     * @param sha256 digest of the whole file, lower-case hexadecimal
     */
    public record ArchiveOrigin(String fileName, String sha256) {}
}
