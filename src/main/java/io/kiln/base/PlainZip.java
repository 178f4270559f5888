// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.io.ByteArrayInputStream;
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
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipFile;

/**
 * Zips of plain files, such as an artifact of packaging {@code board-profile}: read into memory, nothing is unpacked to disk. Links, encrypted or
 * damaged entries, and names that no file of such an artifact has, are refused before they take memory.
 */
public final class PlainZip {
    private static final int MAX_SEGMENTS = 8;
    private static final int MOST_SHOWN = 100;
    private static final Pattern SEGMENT = Pattern.compile("[A-Za-z0-9_+](?:[A-Za-z0-9_.+-]{0,61}[A-Za-z0-9_+-])?");

    /** Names in zips of others: they lead nowhere else, and can be printed. */
    private static final Pattern OTHERS_SEGMENT = Pattern.compile("(?!\\.{1,2}$)[^\\p{Cntrl}:/\\\\]{1,255}");

    private static final int MOST_OTHERS_SEGMENTS = 32;

    private final Kind kind;
    private final boolean isOthers;
    private final Path zip;
    private final TreeMap<String, Bytes> files = new TreeMap<>();

    /** Spelling of every file and folder by its lower-case form, to find names that differ only in case. */
    private final Map<String, String> spellings = new HashMap<>();

    private final Set<String> folders = new HashSet<>();
    private long total;

    /**
     * The kind and the limits of the zips to read.
     *
     * @param contents what they hold, for messages
     * @param packaging of the artifact
     * @param example of a name of an entry
     * @param fewestSegments in a name
     * @param limits on their size
     * @param larger the most bytes of a file, unpacked, by the end of its name, for files that may have more than others
     */
    public record Kind(
            String contents,
            String packaging,
            String example,
            int fewestSegments,
            Limits limits,
            Map<String, Integer> larger) {
        public Kind {
            larger = Map.copyOf(larger);
        }

        /** A kind whose files all have the same limit. */
        public Kind(String contents, String packaging, String example, int fewestSegments, Limits limits) {
            this(contents, packaging, example, fewestSegments, limits, Map.of());
        }

        private int most(String name) {
            return larger.entrySet().stream()
                    .filter(end -> name.endsWith(end.getKey()))
                    .mapToInt(Map.Entry::getValue)
                    .max()
                    .orElse(limits.fileBytes());
        }
    }

    /**
     * The most that a zip may have.
     *
     * @param archiveBytes the zip itself
     * @param entries files and folders
     * @param fileBytes one file, unpacked
     * @param totalBytes all files, unpacked
     */
    public record Limits(int archiveBytes, int entries, int fileBytes, long totalBytes) {}

    private PlainZip(Kind kind, Path zip, boolean isOthers) {
        this.kind = kind;
        this.zip = zip;
        this.isOthers = isOthers;
    }

    /**
     * The paths of a zip that no tool of Kiln's made, such as a vendor's pack of hundreds of megabytes, with {@code /} between their segments.
     *
     * @throws KilnException if it is too large, is not a zip, or has an entry that leads out of it
     */
    public static SortedSet<String> names(Kind kind, Path zip) {
        PlainZip archive = new PlainZip(kind, zip, true);
        try (InputStream in = Files.newInputStream(zip)) {
            long size = Files.size(zip);
            if (size > kind.limits().archiveBytes()) {
                throw archive.refused(
                        "the archive has " + size + " bytes",
                        "",
                        "at most " + kind.limits().archiveBytes());
            }
            archive.checkCount(in);
        } catch (IOException e) {
            throw FileFailure.of("cannot read", zip, e);
        }
        TreeSet<String> names = new TreeSet<>();
        archive.files(ZipFile.builder().setPath(zip)::get, name -> {
            names.add(name);
            return false;
        });
        return names;
    }

    /**
     * A file of such a zip, whose {@link #names} were listed; the others are not read.
     *
     * @param path one of the names
     * @throws KilnException if it is too large, damaged or a link
     */
    public static Optional<Bytes> file(Kind kind, Path zip, String path) {
        return Optional.ofNullable(new PlainZip(kind, zip, true)
                .files(ZipFile.builder().setPath(zip)::get, path::equals)
                .get(path));
    }

    private interface Opening {
        ZipFile open() throws IOException;
    }

    /**
     * The files by path.
     *
     * @throws KilnException naming the entry, if the file is too large, is not a zip, or has entries that no such zip needs
     */
    public static SortedMap<String, Bytes> read(Kind kind, Path zip) {
        int most = kind.limits().archiveBytes();
        try (InputStream in = Files.newInputStream(zip)) {
            byte[] content = in.readNBytes(most + 1);
            if (content.length > most) {
                throw new PlainZip(kind, zip, false)
                        .refused("the archive has " + Files.size(zip) + " bytes", "", "at most " + most);
            }
            return read(kind, zip, content);
        } catch (IOException e) {
            throw FileFailure.of("cannot read", zip, e);
        }
    }

    private static SortedMap<String, Bytes> read(Kind kind, Path zip, byte[] content) {
        PlainZip archive = new PlainZip(kind, zip, false);
        Opening opening = () -> {
            archive.checkCount(new ByteArrayInputStream(content));
            return ZipFile.builder().setByteArray(content).get();
        };
        return archive.files(opening, name -> true);
    }

    private SortedMap<String, Bytes> files(Opening opening, Predicate<String> wanted) {
        try (ZipFile file = opening.open()) {
            readAll(file, wanted);
        } catch (KilnException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            // Commons Compress throws various arithmetic exceptions for false headers.
            throw new KilnException(
                    Failure.ARCHIVE.problem(
                            "this is not a zip of " + kind.contents() + ": "
                                    + printable(String.valueOf(e.getMessage())),
                            zip.toString(),
                            isOthers
                                    ? "the file as its vendor publishes it"
                                    : "an artifact of packaging " + kind.packaging()),
                    e);
        }
        return Collections.unmodifiableSortedMap(files);
    }

    /**
     * Writes files; equal ones give equal bytes.
     *
     * @throws KilnException if {@link #read} would refuse the zip
     */
    public static void write(Kind kind, SortedMap<String, Bytes> files, Path zip) {
        byte[] bytes = StoredZip.of(files);
        read(kind, zip, bytes);
        WholeFiles.write(zip, bytes);
    }

    private void checkCount(InputStream in) throws IOException {
        if (ZipEntries.areMoreThan(kind.limits().entries(), in)) {
            throw refused(
                    "the archive has too many entries",
                    "",
                    "at most " + kind.limits().entries());
        }
    }

    private void readAll(ZipFile file, Predicate<String> wanted) throws IOException {
        Enumeration<ZipArchiveEntry> entries = file.getEntries();
        while (entries.hasMoreElements()) {
            ZipArchiveEntry entry = entries.nextElement();
            String name = name(entry);
            if (entry.isDirectory()) {
                checkName(name.substring(0, name.length() - 1), 1, name);
                if (!isOthers) {
                    addFolders(name);
                }
            } else if (isOthers && !wanted.test(name)) {
                checkName(name, kind.fewestSegments(), name);
            } else {
                check(entry);
                try (InputStream in = file.getInputStream(entry)) {
                    add(entry, in.readNBytes(kind.most(name) + 1));
                }
            }
        }
        files.keySet().stream().filter(folders::contains).findFirst().ifPresent(name -> {
            throw refused("the entry is a file and a folder", name, "");
        });
    }

    /** Some vendors' tools write the separators of Windows. */
    private String name(ZipArchiveEntry entry) {
        return isOthers ? entry.getName().replace('\\', '/') : entry.getName();
    }

    private void check(ZipArchiveEntry entry) {
        String name = name(entry);
        if (entry.isUnixSymlink()) {
            throw refused("the entry is a link", name, "plain files");
        }
        checkName(name, kind.fewestSegments(), name);
        if (entry.getGeneralPurposeBit().usesEncryption()) {
            throw refused("the entry is encrypted", name, "files without a password");
        }
        if (entry.getMethod() != ZipEntry.STORED && entry.getMethod() != ZipEntry.DEFLATED) {
            throw refused(
                    "the entry is compressed by method " + entry.getMethod(),
                    name,
                    "method 0 (stored) or 8 (deflated)");
        }
    }

    private void checkName(String path, int fewest, String name) {
        String[] segments = path.split("/", -1);
        Pattern each = isOthers ? OTHERS_SEGMENT : SEGMENT;
        int most = isOthers ? MOST_OTHERS_SEGMENTS : MAX_SEGMENTS;
        boolean plain = segments.length >= fewest && segments.length <= most;
        for (String segment : segments) {
            plain &= each.matcher(segment).matches();
        }
        if (!plain) {
            throw refused(
                    "the name is not that of a file of " + kind.contents(), name, "names such as " + kind.example());
        }
    }

    private void add(ZipArchiveEntry entry, byte[] content) {
        String name = name(entry);
        total += content.length;
        Limits limits = kind.limits();
        int most = kind.most(name);
        if (content.length > most || total > limits.totalBytes()) {
            throw refused(
                    "the archive's content is too large",
                    name,
                    "at most " + most + " bytes a file and " + limits.totalBytes() + " in all");
        }
        CRC32 crc = new CRC32();
        crc.update(content);
        if (content.length != entry.getSize() || crc.getValue() != entry.getCrc()) {
            throw refused("the entry is damaged: its size or checksum is not the one stated", name, "");
        }
        if (files.put(name, Bytes.wrap(content)) != null) {
            throw refused("the entry exists twice", name, "each file once");
        }
        checkSpelling(name);
        addFolders(name);
    }

    private void addFolders(String name) {
        for (int slash = name.indexOf('/'); slash >= 0; slash = name.indexOf('/', slash + 1)) {
            checkSpelling(name.substring(0, slash));
            folders.add(name.substring(0, slash));
        }
    }

    /** Refuses names that differ from others only in case: on file systems that ignore case, both are one file. */
    private void checkSpelling(String name) {
        String other = spellings.putIfAbsent(name.toLowerCase(Locale.ROOT), name);
        if (other != null && !other.equals(name)) {
            throw refused(
                    "the name differs from " + other + " only in case",
                    name,
                    "names that also differ in other letters");
        }
    }

    /** The error for an entry that is refused. Entry names are untrusted, so that control characters in them are not printed. */
    private KilnException refused(String what, String entry, String expected) {
        String shown = printable(entry);
        return Failure.ARCHIVE.exception(what, zip + (shown.isEmpty() ? "" : ", entry " + shown), expected);
    }

    private static String printable(String text) {
        String printable = text.replaceAll("[^ -~]", "?");
        return printable.length() > MOST_SHOWN ? printable.substring(0, MOST_SHOWN) + "…" : printable;
    }

    /** Zip archives that are equal wherever they are written: names in order, all with the same time, and nothing compressed, since that depends on the JDK. */
    public static final class StoredZip {
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

    /**
     * Counts the entries of a zip before a library reads its directory. The library takes many kilobytes for each entry, which takes 50 bytes
     * in the directory.
     */
    public static final class ZipEntries {
        /** Bytes of the signature of a directory's entry, PK12, before the last one: APPNOTE.TXT of PKWARE, section 4.3.12. */
        private static final int BEFORE = 3;

        private static final int BLOCK = 1 << 16;

        private ZipEntries() {}

        /**
         * Whether a zip may have more entries than a limit. Counts the signature of directory entries anywhere in the file; uncompressed
         * content seldom contains it.
         *
         * @param zip read until the answer is known
         */
        public static boolean areMoreThan(int most, InputStream zip) throws IOException {
            byte[] block = new byte[BEFORE + BLOCK];
            int at = BEFORE + BEFORE;
            int found = 0;
            for (int length = zip.read(block, BEFORE, BLOCK); length >= 0; length = zip.read(block, BEFORE, BLOCK)) {
                while (at < BEFORE + length) {
                    if (block[at] == 2
                            && block[at - 1] == 1
                            && block[at - 2] == 'K'
                            && block[at - BEFORE] == 'P'
                            && ++found > most) {
                        return true;
                    }
                    at += step(block[at]);
                }
                at -= length;
                System.arraycopy(block, length, block, 0, BEFORE);
            }
            return false;
        }

        /** How far behind a byte the next signature can end: no two of its bytes are the same. */
        private static int step(byte value) {
            return switch (value) {
                case 1 -> 1;
                case 'K' -> 2;
                case 'P' -> BEFORE;
                default -> BEFORE + 1;
            };
        }
    }
}
