// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import io.kiln.base.Bytes;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;

/** The files of a tar from anywhere, by path, with limits on what it may hold. */
final class TarMembers {
    private static final int MOST_MEMBERS = 20_000;
    private static final long MOST_BYTES = 256L << 20;
    private static final int LONGEST_PATH = 1000;
    private static final int LONGEST_NAME = 200;

    /** What some system takes for a separator, a drive or an end. */
    private static final Pattern UNSAFE = Pattern.compile("[\\\\:\\p{Cntrl}]");

    private static final int GZIP_MAGIC = 0x1F;
    private static final int GZIP_SECOND = 0x8B;

    private final String archive;
    private final SortedMap<String, Bytes> files = new TreeMap<>();
    private final Set<String> folders = new HashSet<>();
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
        members.refuseCompressed(file);
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
        members.files.keySet().stream()
                .filter(members.folders::contains)
                .findFirst()
                .ifPresent(path -> {
                    throw members.problem("is a file and a folder", path, "");
                });
        return members.files;
    }

    private void refuseCompressed(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            if (in.read() == GZIP_MAGIC && in.read() == GZIP_SECOND) {
                throw problem(
                        "is compressed with gzip",
                        "",
                        "a tar without compression, as TVM writes it",
                        "Run gunzip on it");
            }
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
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
                for (int slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
                    folders.add(path.substring(0, slash));
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
        List<String> parts = List.of(path.split("/", -1));
        boolean isSafe = !UNSAFE.matcher(path).find()
                && path.length() <= LONGEST_PATH
                && parts.stream()
                        .noneMatch(part -> part.isEmpty() || part.matches("\\.+") || part.length() > LONGEST_NAME);
        if (!isSafe) {
            throw problem("lies outside the archive or has no proper name", name, "a path relative to the archive");
        }
        return path;
    }

    private KilnException problem(String what, String member, String expected) {
        return problem(what, member, expected, "");
    }

    private KilnException problem(String what, String member, String expected, String next) {
        String where = member.isEmpty() ? archive : archive + ": " + member.replaceAll("\\p{Cntrl}", "?");
        return new KilnException(new Problem(what, where, expected, next));
    }
}
