// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.base.Bytes;
import io.kiln.base.WholeFiles;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;

/** Unpacks archives, so that people can read their files. */
final class ArchiveTree {
    private ArchiveTree() {}

    /**
     * Writes the files of an archive below a folder and returns their paths. The archive's reader has checked that the
     * paths are safe.
     */
    static List<Path> unpack(SortedMap<String, Bytes> files, Path folder) {
        List<Path> written = new ArrayList<>();
        files.forEach((path, content) -> {
            Path file = folder.resolve(path);
            WholeFiles.write(file, content.toArray());
            written.add(file);
        });
        return written;
    }

    /** Writes every file of an archive written by Kiln below a folder and returns their paths. */
    static List<Path> unpack(Bytes archive, Path folder) {
        List<Path> written = new ArrayList<>();
        try (TarArchiveInputStream tar =
                new TarArchiveInputStream(new ByteArrayInputStream(archive.toArray()), StandardCharsets.UTF_8.name())) {
            for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                if (entry.isFile()) {
                    Path file = folder.resolve(entry.getName()).normalize();
                    WholeFiles.write(file, tar.readAllBytes());
                    written.add(file);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("an archive just written cannot be read", e);
        }
        return written;
    }
}
