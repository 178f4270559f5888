// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import java.nio.file.Path;

/** Gets a file from an artifact repository; Maven's own resolution stands behind it. */
@FunctionalInterface
public interface ArtifactFetcher {
    /**
     * The local copy, fetched first if need be, honouring offline mode, mirrors and checksums.
     *
     * @throws io.kiln.base.KilnException if it cannot be had; the message says what to do
     */
    Path fetch(String groupId, String artifactId, String version, String classifier, String extension);
}
