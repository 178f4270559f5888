// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.base.Digests;
import io.kiln.base.WholeFiles;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The files and links of an unpacked folder with digests, sizes and times. A file with recorded size and times counts
 * as unchanged; on Unix one of the times is that of the last change of any kind, which programs cannot set. Whoever can
 * also write the record can forge it.
 *
 * @param entries by path relative to the folder, with {@code /} between names
 */
record UnpackedFiles(SortedMap<String, Entry> entries) {
    private static final int FIELDS = 5;

    /**
     * A file or a link.
     *
     * @param sha256 digest of the content, or of a link's target
     * @param stamp attributes that are cheap to compare
     */
    record Entry(String sha256, Stamp stamp) {}

    /**
     * Size and times.
     *
     * @param size bytes
     * @param modified time of the last write in nanoseconds
     * @param changed time of the last change of content or attributes in nanoseconds; 0 where the system does not
     * provide it
     */
    record Stamp(long size, long modified, long changed) {}

    /** Reads every file of a folder. */
    static UnpackedFiles of(Path folder) throws IOException {
        TreeMap<String, Entry> entries = new TreeMap<>();
        for (Path path : files(folder)) {
            entries.put(name(folder, path), new Entry(digest(path), stamp(path)));
        }
        return new UnpackedFiles(entries);
    }

    /** Reads a record; empty if it is missing or invalid. */
    static Optional<UnpackedFiles> read(Path record) {
        TreeMap<String, Entry> entries = new TreeMap<>();
        try {
            for (String line : Files.readAllLines(record)) {
                String[] fields = line.split(" ", FIELDS);
                Stamp stamp =
                        new Stamp(Long.parseLong(fields[1]), Long.parseLong(fields[2]), Long.parseLong(fields[3]));
                entries.put(fields[4], new Entry(fields[0], stamp));
            }
        } catch (IOException | NumberFormatException | ArrayIndexOutOfBoundsException e) {
            return Optional.empty();
        }
        return Optional.of(new UnpackedFiles(entries));
    }

    /** Writes the record completely or not at all. */
    void write(Path record) {
        StringBuilder text = new StringBuilder();
        entries.forEach((name, entry) -> text.append(entry.sha256())
                .append(' ')
                .append(entry.stamp().size())
                .append(' ')
                .append(entry.stamp().modified())
                .append(' ')
                .append(entry.stamp().changed())
                .append(' ')
                .append(name)
                .append('\n'));
        WholeFiles.write(record, text.toString());
    }

    /** Whether a folder has these files, judged by names, sizes and times. */
    boolean looksLike(Path folder) throws IOException {
        TreeMap<String, Stamp> now = new TreeMap<>();
        for (Path path : files(folder)) {
            now.put(name(folder, path), stamp(path));
        }
        TreeMap<String, Stamp> recorded = new TreeMap<>();
        entries.forEach((name, entry) -> recorded.put(name, entry.stamp()));
        return now.equals(recorded);
    }

    /** The first file that is missing, new or different in the other folder; empty if there is none. */
    Optional<String> difference(UnpackedFiles other) {
        TreeSet<String> names = new TreeSet<>(entries.keySet());
        names.addAll(other.entries.keySet());
        return names.stream()
                .filter(name -> !digest(name).equals(other.digest(name)))
                .findFirst();
    }

    private Optional<String> digest(String name) {
        return Optional.ofNullable(entries.get(name)).map(Entry::sha256);
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> walk = Files.walk(folder)) {
            return walk.filter(path -> !Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS))
                    .toList();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static String name(Path folder, Path path) {
        return folder.relativize(path).toString().replace('\\', '/');
    }

    /** SHA-256 of a file's content, or of a link's target. */
    static String digest(Path path) throws IOException {
        if (Files.isSymbolicLink(path)) {
            return Digests.sha256(Files.readSymbolicLink(path).toString());
        }
        MessageDigest digest = Digests.newSha256();
        try (InputStream in = new DigestInputStream(Files.newInputStream(path), digest)) {
            byte[] block = new byte[1 << 16];
            int n = in.read(block);
            while (n >= 0) {
                n = in.read(block);
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private static Stamp stamp(Path path) throws IOException {
        BasicFileAttributes attributes =
                Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        return new Stamp(attributes.size(), nanoseconds(attributes.lastModifiedTime()), changed(path));
    }

    private static long changed(Path path) throws IOException {
        if (!path.getFileSystem().supportedFileAttributeViews().contains("unix")) {
            return 0;
        }
        return nanoseconds((FileTime) Files.getAttribute(path, "unix:ctime", LinkOption.NOFOLLOW_LINKS));
    }

    private static long nanoseconds(FileTime time) {
        return time.to(TimeUnit.NANOSECONDS);
    }
}
