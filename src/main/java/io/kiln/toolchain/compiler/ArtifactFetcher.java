// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import java.nio.file.Path;

/** Gets a file from an artifact repository, through Maven's resolution. */
@FunctionalInterface
public interface ArtifactFetcher {
    /**
     * The local copy, fetched if necessary; offline mode, mirrors and checksums apply.
     *
     * @throws io.kiln.base.KilnException if it cannot be fetched; the message says what to do
     */
    Path fetch(String groupId, String artifactId, String version, String classifier, String extension);
}
