// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.base.Bytes;
import io.kiln.base.WholeFiles;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;

/** Unpacks an archive that Kiln has written, so that people can look at its files. */
final class ArchiveTree {
    private ArchiveTree() {}

    /** Writes every file of the archive below a folder and says which. */
    static List<Path> unpack(Bytes archive, Path folder) {
        List<Path> written = new ArrayList<>();
        try (TarArchiveInputStream tar = new TarArchiveInputStream(new ByteArrayInputStream(archive.toArray()))) {
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
