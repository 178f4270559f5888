// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;

/** The files of a tar from anywhere, by path, with limits on what it may hold. */
final class TarMembers {
    private static final int MOST_MEMBERS = 20_000;
    private static final long MOST_BYTES = 256L << 20;

    private final String archive;
    private final SortedMap<String, Bytes> files = new TreeMap<>();
    private long bytes;

    private TarMembers(String archive) {
        this.archive = archive;
    }

    static SortedMap<String, Bytes> read(Path file) {
        TarMembers members = new TarMembers(file.getFileName().toString());
        if (!Files.isRegularFile(file)) {
            throw members.problem(
                    Files.exists(file) ? "is not a file" : "does not exist", "", "a Model Library Format tar");
        }
        // Commons Compress throws IllegalArgumentException on some broken headers.
        try (InputStream in = new BufferedInputStream(Files.newInputStream(file));
                TarArchiveInputStream tar = new TarArchiveInputStream(in, StandardCharsets.UTF_8.name())) {
            members.read(tar);
        } catch (IOException | IllegalArgumentException e) {
            throw new KilnException(
                    new Problem(
                            "cannot be read as a tar: " + e.getMessage(),
                            members.archive,
                            "a whole, uncompressed tar",
                            ""),
                    e);
        }
        return members.files;
    }

    private void read(TarArchiveInputStream tar) throws IOException {
        int count = 0;
        for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
            if (++count > MOST_MEMBERS) {
                throw problem("has more than " + MOST_MEMBERS + " members", "", "");
            }
            if (!entry.isDirectory()) {
                String path = path(entry.getName());
                if (!isPlain(entry)) {
                    throw problem("is neither a plain file nor a folder", entry.getName(), "");
                }
                if (files.putIfAbsent(path, content(tar, entry)) != null) {
                    throw problem("is there twice", entry.getName(), "");
                }
            }
        }
    }

    private static boolean isPlain(TarArchiveEntry entry) {
        byte kind = entry.getLinkFlag();
        return (kind == TarConstants.LF_NORMAL || kind == TarConstants.LF_OLDNORM) && !entry.isSparse();
    }

    /** Reads what is there, whatever size the header claims. */
    private Bytes content(TarArchiveInputStream tar, TarArchiveEntry entry) throws IOException {
        long left = MOST_BYTES - bytes;
        if (entry.getSize() > left) {
            throw problem(
                    "is too large: with it the archive holds more than " + MOST_BYTES + " bytes", entry.getName(), "");
        }
        byte[] content = tar.readNBytes((int) left);
        bytes += content.length;
        if (content.length != entry.getSize()) {
            throw problem("is cut off", entry.getName(), entry.getSize() + " bytes");
        }
        return Bytes.wrap(content);
    }

    private String path(String name) {
        String path = name.startsWith("./") ? name.substring(2) : name;
        boolean isSafe = !path.isEmpty()
                && path.indexOf('\\') < 0
                && path.indexOf(':') < 0
                && path.indexOf('\0') < 0
                && List.of(path.split("/", -1)).stream().noneMatch(part -> part.isEmpty() || part.matches("\\.+"));
        if (!isSafe) {
            throw problem("lies outside the archive or has no proper name", name, "a path relative to the archive");
        }
        return path;
    }

    private KilnException problem(String what, String member, String expected) {
        String where = member.isEmpty() ? archive : archive + ": " + member;
        return new KilnException(new Problem(what, where, expected, ""));
    }
}
