// SPDX-License-Identifier: Apache-2.0
package io.kiln.base.incremental;

import io.kiln.base.Digests;
import io.kiln.base.KilnException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Digests of files' contents, each read once. Names are relative to one folder. A tool may read a file at any moment of
 * its run, so its input is known only if the file was the same before and after.
 */
public final class FileDigests {
    private final Path folder;
    private final Map<Path, Optional<String>> known = new ConcurrentHashMap<>();

    /** Digests of files whose names are relative to a folder. */
    public FileDigests(Path folder) {
        this.folder = folder;
    }

    /** The digest of a file; empty if the name is not that of an existing file. */
    public Optional<String> of(String name) {
        try {
            return known.computeIfAbsent(path(name), FileDigests::digest);
        } catch (InvalidPathException e) {
            return Optional.empty();
        }
    }

    /**
     * Digest of a file read by a tool that has run between a time and now; empty if the file changed since that time,
     * or was deleted.
     *
     * @param began time before the tool was started; files whose digests were requested earlier are compared with those
     */
    public Optional<String> read(String name, Instant began) {
        Path file = path(name);
        Optional<String> before = Optional.ofNullable(known.get(file)).flatMap(digest -> digest);
        if (known.containsKey(file)) {
            return before.filter(digest -> digest(file).equals(Optional.of(digest)));
        }
        try {
            return Files.getLastModifiedTime(file).toInstant().isAfter(began) ? Optional.empty() : of(name);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private Path path(String name) {
        return folder.resolve(name).normalize();
    }

    /** Digest of a file's content; empty if there is no such file, or it cannot be read. */
    public static Optional<String> digest(Path file) {
        try {
            return Files.isRegularFile(file) ? Optional.of(Digests.sha256(file)) : Optional.empty();
        } catch (KilnException e) {
            return Optional.empty();
        }
    }
}
