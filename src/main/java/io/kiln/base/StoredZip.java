// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.util.Map;
import java.util.SortedMap;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Zip archives that are equal wherever they are written: names in order, all with the same time, and nothing compressed, since that depends on the JDK. */
public final class StoredZip {
    /**
     * The time of all entries. It is not the first that an archive can hold: the JDK takes that one for an earlier time, and adds
     * an instant of the computer's zone.
     */
    private static final LocalDateTime TIME = LocalDateTime.of(1980, 2, 1, 0, 0);

    private StoredZip() {}

    /**
     * Writes an archive.
     *
     * @param files by path, with {@code /} between names
     */
    public static byte[] of(SortedMap<String, Bytes> files) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream out = new ZipOutputStream(bytes, StandardCharsets.UTF_8)) {
            for (Map.Entry<String, Bytes> file : files.entrySet()) {
                add(out, file.getKey(), file.getValue().toArray());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("an archive in memory cannot be written", e);
        }
        return bytes.toByteArray();
    }

    private static void add(ZipOutputStream out, String name, byte[] content) throws IOException {
        CRC32 crc = new CRC32();
        crc.update(content);
        ZipEntry entry = new ZipEntry(name);
        entry.setTimeLocal(TIME);
        entry.setMethod(ZipEntry.STORED);
        entry.setSize(content.length);
        entry.setCrc(crc.getValue());
        out.putNextEntry(entry);
        out.write(content);
        out.closeEntry();
    }
}
