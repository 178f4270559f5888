// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/** Reads the zip of a firmware library in bounded memory; names that lead out of its folders are refused. */
final class CodeArchive {
    private static final int MOST_ENTRIES = 20_000;
    private static final long MOST_BYTES = 256L << 20;

    /** The path of a file in one of the folders of a library; no part of it is {@code .} or {@code ..}. */
    private static final Pattern NAME =
            Pattern.compile("(?:c|include|lib)(?:/(?!\\.\\.?(?:/|$))[^/\\\\\\p{Cntrl}:]{1,100}){1,16}");

    private CodeArchive() {}

    /** The files by path. */
    static SortedMap<String, Bytes> read(Path zip) {
        try {
            if (Files.size(zip) > MOST_BYTES) {
                throw refused(zip, "the archive is too large", "at most " + (MOST_BYTES >> 20) + " MiB");
            }
            return read(zip, Files.readAllBytes(zip));
        } catch (IOException e) {
            throw FileFailure.of("cannot read", zip, e);
        }
    }

    /**
     * Reads the content of an archive.
     *
     * @param zip the archive, for messages
     * @throws KilnException if it is not a zip, too large, or has files that no library has
     */
    static SortedMap<String, Bytes> read(Path zip, byte[] content) {
        SortedMap<String, Bytes> files = new TreeMap<>();
        long room = MOST_BYTES;
        int entries = 0;
        try (ZipInputStream in = new ZipInputStream(new ByteArrayInputStream(content))) {
            for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
                entries++;
                if (entries > MOST_ENTRIES) {
                    throw refused(zip, "the archive has too many entries", "at most " + MOST_ENTRIES);
                }
                if (entry.isDirectory()) {
                    checkFolder(zip, entry.getName(), in);
                    continue;
                }
                byte[] file = in.readNBytes((int) Math.min(room + 1, Integer.MAX_VALUE));
                room -= file.length;
                if (room < 0) {
                    throw refused(zip, "the archive's content is too large", "at most " + (MOST_BYTES >> 20) + " MiB");
                }
                String name = entry.getName();
                if (!NAME.matcher(name).matches() || files.put(name, Bytes.wrap(file)) != null) {
                    throw refused(
                            zip,
                            "the entry " + printable(name) + " does not belong into a library",
                            "each file once, in c, include or lib");
                }
            }
        } catch (IOException | IllegalArgumentException e) {
            throw new KilnException(
                    Failure.LIBRARY.problem(
                            "this is not a zip: " + e.getMessage(), zip.toString(), "a firmware library", ""),
                    e);
        }
        if (files.isEmpty()) {
            throw refused(zip, "the archive has no code", "an artifact of packaging firmware-library");
        }
        return files;
    }

    /** Refuses a folder's entry that has content, which reading the next entry would unpack first, however long it is. */
    private static void checkFolder(Path zip, String name, InputStream content) throws IOException {
        if (content.read() >= 0) {
            throw refused(zip, "the folder " + printable(name) + " has content", "only files with content");
        }
    }

    private static String printable(String name) {
        return name.replaceAll("[^ -~]", "?");
    }

    private static KilnException refused(Path zip, String what, String expected) {
        return new KilnException(Failure.LIBRARY.problem(what, zip.toString(), expected, ""));
    }
}
