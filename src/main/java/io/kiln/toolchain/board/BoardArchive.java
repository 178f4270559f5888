// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.WholeFiles;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.Collections;
import java.util.Enumeration;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipFile;

/**
 * Reads a zip of board profiles, one folder per profile at its root, into memory: nothing is ever unpacked to disk. What cannot be
 * a profile is refused before it costs memory.
 */
final class BoardArchive {
    private static final long MAX_ARCHIVE_BYTES = 4L << 20;
    private static final int MAX_ENTRIES = 2_000;
    private static final int MAX_FILE_BYTES = 1 << 20;
    private static final long MAX_TOTAL_BYTES = 16L << 20;
    private static final int MAX_SEGMENTS = 8;
    private static final Pattern SEGMENT = Pattern.compile("[A-Za-z0-9_+][A-Za-z0-9_.+-]{0,62}");

    private final Path zip;
    private final TreeMap<String, Bytes> files = new TreeMap<>();
    private long total;

    private BoardArchive(Path zip) {
        this.zip = zip;
    }

    /**
     * The files by path: folder, then path in the folder.
     *
     * @throws KilnException naming the entry, if the archive is too large, is none, or has entries that no profile needs
     */
    static SortedMap<String, Bytes> read(Path zip) {
        BoardArchive archive = new BoardArchive(zip);
        try {
            long size = Files.size(zip);
            if (size > MAX_ARCHIVE_BYTES) {
                throw archive.refused("the archive has " + size + " bytes", "", "at most " + MAX_ARCHIVE_BYTES);
            }
            archive.readAll();
        } catch (IOException | IllegalArgumentException e) {
            throw new KilnException(
                    new Problem(
                            "this is not a zip of board profiles: " + e.getMessage(),
                            zip.toString(),
                            "an artifact of packaging board-profile",
                            ""),
                    e);
        }
        return Collections.unmodifiableSortedMap(archive.files);
    }

    /** Writes profiles: sorted, not compressed (how well is the JDK's affair), all of one time. */
    static void write(BoardFiles profiles, Path zip) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream out = new ZipOutputStream(bytes, StandardCharsets.UTF_8)) {
            for (String id : profiles.ids()) {
                for (Map.Entry<String, Bytes> file :
                        profiles.read(id).orElseThrow().entrySet()) {
                    ZipEntry entry = new ZipEntry(id + "/" + file.getKey());
                    byte[] content = file.getValue().toArray();
                    CRC32 crc = new CRC32();
                    crc.update(content);
                    entry.setTimeLocal(LocalDateTime.of(1980, 1, 1, 0, 0));
                    entry.setMethod(ZipEntry.STORED);
                    entry.setSize(content.length);
                    entry.setCrc(crc.getValue());
                    out.putNextEntry(entry);
                    out.write(content);
                    out.closeEntry();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + zip, e);
        }
        WholeFiles.write(zip, bytes.toByteArray());
        read(zip);
    }

    private void readAll() throws IOException {
        try (ZipFile file = ZipFile.builder().setPath(zip).get()) {
            Enumeration<ZipArchiveEntry> entries = file.getEntries();
            for (int count = 1; entries.hasMoreElements(); count++) {
                ZipArchiveEntry entry = entries.nextElement();
                if (count > MAX_ENTRIES) {
                    throw refused("the archive has too many entries", "", "at most " + MAX_ENTRIES);
                }
                if (!entry.isDirectory()) {
                    checkName(entry);
                    try (InputStream in = file.getInputStream(entry)) {
                        add(entry.getName(), in.readNBytes(MAX_FILE_BYTES + 1));
                    }
                }
            }
        }
    }

    private void checkName(ZipArchiveEntry entry) {
        String name = entry.getName();
        if (entry.isUnixSymlink()) {
            throw refused("the entry is a link", name, "plain files");
        }
        String[] segments = name.split("/", -1);
        boolean plain = segments.length >= 2 && segments.length <= MAX_SEGMENTS;
        for (String segment : segments) {
            plain &= SEGMENT.matcher(segment).matches();
        }
        if (!plain) {
            throw refused("the name is none of a file in a profile's folder", name, "names such as my-board/startup.c");
        }
    }

    private void add(String name, byte[] content) {
        total += content.length;
        if (content.length > MAX_FILE_BYTES || total > MAX_TOTAL_BYTES) {
            throw refused(
                    "the archive unfolds into too much",
                    name,
                    "at most " + MAX_FILE_BYTES + " bytes a file and " + MAX_TOTAL_BYTES + " in all");
        }
        if (files.put(name, Bytes.wrap(content)) != null) {
            throw refused("the entry is there twice", name, "each file once");
        }
    }

    /** Names of entries come from outside: what could move a terminal's cursor is not printed. */
    private KilnException refused(String what, String entry, String expected) {
        String printable = entry.replaceAll("[^ -~]", "?");
        String shown = printable.length() > 100 ? printable.substring(0, 100) + "…" : printable;
        return new KilnException(new Problem(what, zip + (shown.isEmpty() ? "" : ", entry " + shown), expected, ""));
    }
}
