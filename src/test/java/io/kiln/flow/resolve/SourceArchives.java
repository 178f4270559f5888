// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;

/** Writes archives of sources. */
public final class SourceArchives {
    private SourceArchives() {}

    /** The files below a folder, by path after a prefix. */
    public static Map<String, byte[]> below(Path folder, String prefix) throws IOException {
        Map<String, byte[]> files = new TreeMap<>();
        try (Stream<Path> walk = Files.walk(folder)) {
            for (Path file : walk.filter(Files::isRegularFile).toList()) {
                files.put(prefix + folder.relativize(file).toString().replace('\\', '/'), Files.readAllBytes(file));
            }
        }
        return files;
    }

    /** Files of a text each. */
    static Map<String, byte[]> texts(List<String> names) {
        Map<String, byte[]> files = new TreeMap<>();
        names.forEach(name -> files.put(name, "int x;\n".getBytes(StandardCharsets.US_ASCII)));
        return files;
    }

    static Path zip(Path archive, Map<String, byte[]> files) throws IOException {
        try (OutputStream out = Files.newOutputStream(archive);
                ZipOutputStream zip = new ZipOutputStream(out)) {
            for (Map.Entry<String, byte[]> file : files.entrySet()) {
                zip.putNextEntry(new ZipEntry(file.getKey()));
                zip.write(file.getValue());
            }
        }
        return archive;
    }

    public static Path tarGz(Path archive, Map<String, byte[]> files) throws IOException {
        try (OutputStream out = Files.newOutputStream(archive);
                TarArchiveOutputStream tar =
                        new TarArchiveOutputStream(new GZIPOutputStream(out), StandardCharsets.UTF_8.name())) {
            tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_GNU);
            for (Map.Entry<String, byte[]> file : files.entrySet()) {
                TarArchiveEntry entry = new TarArchiveEntry(file.getKey(), true);
                entry.setSize(file.getValue().length);
                tar.putArchiveEntry(entry);
                tar.write(file.getValue());
                tar.closeArchiveEntry();
            }
        }
        return archive;
    }

    /** A tar whose only entry is a link. */
    static Path link(Path archive, String name) throws IOException {
        try (OutputStream out = Files.newOutputStream(archive);
                TarArchiveOutputStream tar =
                        new TarArchiveOutputStream(new GZIPOutputStream(out), StandardCharsets.UTF_8.name())) {
            TarArchiveEntry entry = new TarArchiveEntry(name, TarConstants.LF_SYMLINK);
            entry.setLinkName("/etc/passwd");
            tar.putArchiveEntry(entry);
            tar.closeArchiveEntry();
        }
        return archive;
    }

    /** A tar whose only entry has a name of so many letters. */
    static Path longName(Path archive, int length) throws IOException {
        byte[] name = new byte[length];
        Arrays.fill(name, (byte) 'x');
        try (OutputStream out = Files.newOutputStream(archive);
                TarArchiveOutputStream tar =
                        new TarArchiveOutputStream(new GZIPOutputStream(out), StandardCharsets.UTF_8.name())) {
            TarArchiveEntry entry = new TarArchiveEntry("././@LongLink", TarConstants.LF_GNUTYPE_LONGNAME);
            entry.setSize(length);
            tar.putArchiveEntry(entry);
            tar.write(name);
            tar.closeArchiveEntry();
        }
        return archive;
    }
}
