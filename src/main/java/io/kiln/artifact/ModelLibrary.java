// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import java.util.Optional;

/**
 * A compiled model: the one value that stands between the compiler and the firmware half.
 *
 * @param metadata names, tensors and sizes
 * @param artifacts its files: generated C, header, Relay text, parameters
 * @param origin the archive that it was read from; empty if Kiln has just compiled it
 */
public record ModelLibrary(ModelMetadata metadata, ArtifactSet artifacts, Optional<ArchiveOrigin> origin) {
    /** A library that comes from no archive. */
    public ModelLibrary(ModelMetadata metadata, ArtifactSet artifacts) {
        this(metadata, artifacts, Optional.empty());
    }

    /** Whether it came in an archive rather than from Kiln's own compiler. */
    public boolean isForeign() {
        return artifacts.artifacts().stream().anyMatch(Artifact::isForeign);
    }
}
