// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Digests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Digests of files' contents, each read once. Names are relative to one folder. */
final class FileDigests {
    private final Path folder;
    private final Map<Path, Optional<String>> known = new ConcurrentHashMap<>();

    FileDigests(Path folder) {
        this.folder = folder;
    }

    /** Empty if there is no such file. */
    Optional<String> of(String name) {
        return known.computeIfAbsent(folder.resolve(name).normalize(), FileDigests::digest);
    }

    static Optional<String> digest(Path file) {
        try {
            return Files.isRegularFile(file) ? Optional.of(Digests.sha256(Files.readAllBytes(file))) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
