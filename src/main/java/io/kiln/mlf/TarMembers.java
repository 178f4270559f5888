// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.LimitedInput;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;

/** The files of an untrusted tar, by path, with limits on its content. */
final class TarMembers {
    private static final int MOST_MEMBERS = 20_000;
    private static final long MOST_BYTES = 256L << 20;

    /** The share of the heap that an archive may take, as its divisor: a build holds several copies of an archive's files at once. */
    private static final int HEAP_SHARE = 6;

    /** Limit for the headers of one member: paths and pax records. */
    private static final int MOST_HEADER_BYTES = 256 << 10;

    private static final int LONGEST_PATH = 1000;
    private static final int LONGEST_NAME = 200;

    /** Characters that some system treats as a separator, a drive or an end. */
    private static final Pattern UNSAFE = Pattern.compile("[\\\\:\\p{Cntrl}]");

    /** Names of the folder that contains all members. */
    private static final Set<String> ROOTS = Set.of(".", "./", "/");

    private static final int GZIP_MAGIC = 0x1F;
    private static final int GZIP_SECOND = 0x8B;

    private final String archive;
    private final long heap;

    /** Size of the tar: no member is larger, whatever its header claims. */
    private final long size;

    private final SortedMap<String, Bytes> files = new TreeMap<>();

    /** Spelling of every file and folder by its lower-case form, to find names that differ only in case. */
    private final Map<String, String> spellings = new HashMap<>();

    private final Set<String> folders = new HashSet<>();
    private long bytes;

    private TarMembers(String archive, long size, long heap) {
        this.archive = archive;
        this.size = size;
        this.heap = heap;
    }

    static SortedMap<String, Bytes> read(Path file) {
        return read(file, Runtime.getRuntime().maxMemory());
    }

    private static long size(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            // Reading says what is wrong with it.
            return 0;
        }
    }

    /**
     * Reads an archive.
     *
     * @param heap maximum heap of this Java process in bytes
     */
    static SortedMap<String, Bytes> read(Path file, long heap) {
        TarMembers members = new TarMembers(String.valueOf(file.getFileName()), size(file), heap);
        if (!Files.isRegularFile(file)) {
            throw members.problem(
                    Files.exists(file) ? "is not a file" : "does not exist", "", "a Model Library Format tar");
        }
        members.refuseCompressed(file);
        try (LimitedInput in = new LimitedInput(new BufferedInputStream(Files.newInputStream(file)));
                TarArchiveInputStream tar = new TarArchiveInputStream(in, StandardCharsets.UTF_8.name())) {
            members.read(tar, in);
        } catch (KilnException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            // Commons Compress throws various arithmetic exceptions for false headers.
            throw new KilnException(
                    Failure.ARCHIVE.problem(
                            "cannot be read as a tar: " + printable(String.valueOf(e.getMessage())),
                            members.archive,
                            "a complete, uncompressed tar"),
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

    private void read(TarArchiveInputStream tar, LimitedInput in) throws IOException {
        for (int count = 1; ; count++) {
            in.limit(MOST_HEADER_BYTES, "the headers of a member");
            TarArchiveEntry entry = tar.getNextEntry();
            if (entry == null) {
                return;
            }
            if (count > MOST_MEMBERS) {
                throw problem("has more than " + MOST_MEMBERS + " members", "", "");
            }
            in.unlimited();
            add(tar, entry);
        }
    }

    private void add(TarArchiveInputStream tar, TarArchiveEntry entry) throws IOException {
        String name = entry.getName();
        if (entry.isDirectory()) {
            if (!ROOTS.contains(name)) {
                addFolders(path(name.endsWith("/") ? name.substring(0, name.length() - 1) : name) + "/");
            }
            return;
        }
        String path = path(name);
        if (!isPlain(entry)) {
            throw problem("is neither a plain file nor a folder", name, "");
        }
        if (files.putIfAbsent(path, content(tar, entry)) != null) {
            throw problem("exists twice", name, "");
        }
        checkSpelling(path);
        addFolders(path);
    }

    private void addFolders(String path) {
        for (int slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
            checkSpelling(path.substring(0, slash));
            folders.add(path.substring(0, slash));
        }
    }

    /** Refuses two names that differ only in case, which are one file on file systems that ignore case. */
    private void checkSpelling(String path) {
        String other = spellings.putIfAbsent(path.toLowerCase(Locale.ROOT), path);
        if (other != null && !other.equals(path)) {
            throw problem("differs from " + other + " only in case", path, "names that differ on every system");
        }
    }

    private static boolean isPlain(TarArchiveEntry entry) {
        byte kind = entry.getLinkFlag();
        return (kind == TarConstants.LF_NORMAL || kind == TarConstants.LF_OLDNORM) && !entry.isSparse();
    }

    private Bytes content(TarArchiveInputStream tar, TarArchiveEntry entry) throws IOException {
        long left = Math.min(MOST_BYTES, heap / HEAP_SHARE) - bytes;
        if (entry.getSize() > left) {
            throw tooLarge(entry.getName());
        }
        if (entry.getSize() > size) {
            throw problem("is cut off", entry.getName(), entry.getSize() + " bytes");
        }
        // Read in one piece, because joining pieces would need the memory twice.
        byte[] content = new byte[(int) entry.getSize()];
        int length = tar.readNBytes(content, 0, content.length);
        bytes += length;
        if (length != content.length) {
            throw problem("is cut off", entry.getName(), entry.getSize() + " bytes");
        }
        return Bytes.wrap(content);
    }

    private KilnException tooLarge(String name) {
        if (heap / HEAP_SHARE >= MOST_BYTES) {
            return problem("is too large: with it the archive holds more than " + MOST_BYTES + " bytes", name, "", "");
        }
        return problem(
                "is too large: with it the archive holds more than " + heap / HEAP_SHARE + " bytes, a share of " + "1/"
                        + HEAP_SHARE + " of Java's memory of " + heap + " bytes",
                name,
                "",
                "Give Maven more memory, for example by MAVEN_OPTS=-Xmx" + suggestedGigabytes() + "g");
    }

    /** Gigabytes of heap that suffice for every archive within the limits, for the advice. */
    private static long suggestedGigabytes() {
        return (MOST_BYTES * HEAP_SHARE + (1L << 30) - 1) >> 30;
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
        String where = member.isEmpty() ? archive : archive + ": " + printable(member);
        return Failure.ARCHIVE.exception(what, where, expected, next);
    }

    private static String printable(String text) {
        String printable = text.replaceAll("\\p{Cntrl}", "?");
        return printable.length() > LONGEST_PATH ? printable.substring(0, LONGEST_PATH) + "…" : printable;
    }
}
