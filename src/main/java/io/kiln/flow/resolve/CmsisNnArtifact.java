// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.LimitedInput;
import io.kiln.base.PlainZip.ZipEntries;
import io.kiln.base.WholeFiles;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import io.kiln.toolchain.compiler.ToolchainEnvironment.ArtifactFetcher;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipFile;
import org.apache.commons.compress.compressors.gzip.GzipCompressorInputStream;

/**
 * CMSIS-NN's sources as {@code kiln.cmsisNn} names them: a folder, or a Maven artifact that is fetched, and unpacked once into a folder that
 * all builds of a user share.
 */
public final class CmsisNnArtifact {
    /** {@code group:artifact:version}, then optional extension and classifier. */
    private static final Pattern COORDINATES = Pattern.compile("[A-Za-z0-9_.-]+(:[A-Za-z0-9_.-]+){2,4}");

    private static final int GROUP_ARTIFACT_VERSION = 3;
    private static final int WITH_EXTENSION = 4;

    private CmsisNnArtifact() {}

    /**
     * The folder with {@code Include} and {@code Source}.
     *
     * @param text a folder, or {@code group:artifact:version[:extension[:classifier]]}; the extension is {@code zip} unless stated
     * @param base what a relative folder is relative to
     * @param environment where artifacts come from, and where they are unpacked
     * @throws io.kiln.base.KilnException if the artifact cannot be fetched, or is not an archive of CMSIS-NN's sources
     */
    public static Path folder(String text, Path base, ToolchainEnvironment environment) {
        String name = text.strip();
        if (!COORDINATES.matcher(name).matches()) {
            return base.resolve(name);
        }
        String[] words = name.split(":", -1);
        ArtifactFetcher fetcher = environment.fetcher();
        Path archive = fetcher.fetch(
                words[0],
                words[1],
                words[2],
                words.length > WITH_EXTENSION ? words[4] : "",
                words.length > GROUP_ARTIFACT_VERSION ? words[3] : "zip");
        return unpacked(archive, environment.home().resolve("cmsis-nn"));
    }

    /** Unpacks an archive unless it is there already, whole or not at all. The folder is named by the archive's content. */
    private static Path unpacked(Path archive, Path home) {
        try {
            Path folder = home.resolve(Digests.sha256(archive));
            if (Files.isDirectory(folder)) {
                return folder;
            }
            SortedMap<String, Bytes> files = CmsisNnArchive.read(archive);
            // Not a temporary folder of the system, which only its owner may read.
            Path fresh = home.resolve(".unpacking" + UUID.randomUUID());
            WholeFiles.write(fresh, files);
            return moved(fresh, folder);
        } catch (IOException e) {
            throw FileFailure.of("cannot unpack", archive, e);
        }
    }

    /** Moves an unpacked archive to its place. Another build may have unpacked the same archive meanwhile: its folder is as good. */
    private static Path moved(Path fresh, Path folder) throws IOException {
        try {
            return Files.move(fresh, folder);
        } catch (IOException e) {
            if (Files.isDirectory(folder)) {
                return folder;
            }
            throw e;
        }
    }

    /**
     * Reads CMSIS-NN's sources from an untrusted zip, jar or tar.gz. The headers and C files of the folders {@code Include} and {@code Source} are
     * kept, whatever folder these lie in; all other entries are passed over.
     */
    static final class CmsisNnArchive {
        private static final long MOST_ARCHIVE_BYTES = 256L << 20;
        private static final int MOST_ENTRIES = 50_000;
        private static final int MOST_FILES = 2_000;
        private static final int MOST_FILE_BYTES = 4 << 20;
        private static final long MOST_BYTES = 64L << 20;

        /** Limit for what a tar unpacks to, with the entries that are passed over. */
        private static final long MOST_UNPACKED = 1L << 30;

        /** Limit for the headers of one entry of a tar. */
        private static final int MOST_HEADER_BYTES = 256 << 10;

        private static final int MOST_SHOWN = 200;
        private static final String HEADER = "Include/arm_nnfunctions.h";
        private static final byte[] ZIP_MAGIC = {'P', 'K'};
        private static final byte[] GZIP_MAGIC = {0x1F, (byte) 0x8B};

        /** The path of a file of the library: up to four folders, then the library's own folders and a file in them. */
        private static final Pattern SOURCE =
                Pattern.compile("(?:\\./)?((?:[^/]+/){0,4})((?:Include|Source)/(?:[^/]+/){0,4}[^/]+\\.[ch])");

        private static final Pattern SEGMENT = Pattern.compile("[A-Za-z0-9_+][A-Za-z0-9_.+-]{0,99}");

        private final Path archive;
        private final SortedMap<String, Bytes> files = new TreeMap<>();

        /** Every path in lower case, to find names that are one file where case does not count. */
        private final Map<String, String> spellings = new HashMap<>();

        private long bytes;

        private CmsisNnArchive(Path archive) {
            this.archive = archive;
        }

        /**
         * The files by path, which begins with {@code Include/} or {@code Source/}.
         *
         * @throws KilnException naming the entry, if the file is not such an archive, is damaged, or is larger than the sources can be
         */
        static SortedMap<String, Bytes> read(Path archive) {
            CmsisNnArchive reader = new CmsisNnArchive(archive);
            try {
                reader.readAll();
            } catch (KilnException e) {
                throw e;
            } catch (IOException | RuntimeException e) {
                // Commons Compress throws various arithmetic exceptions for false headers.
                throw new KilnException(
                        Failure.LIBRARY.problem(
                                "this archive cannot be read: " + printable(String.valueOf(e.getMessage())),
                                archive.toString(),
                                "a complete zip, jar or tar.gz",
                                "Fetch or publish it again"),
                        e);
            }
            return reader.library();
        }

        private void readAll() throws IOException {
            if (Files.size(archive) > MOST_ARCHIVE_BYTES) {
                throw refused("the archive has " + Files.size(archive) + " bytes", "", "at most " + MOST_ARCHIVE_BYTES);
            }
            byte[] magic = magic();
            if (magic[0] == ZIP_MAGIC[0] && magic[1] == ZIP_MAGIC[1]) {
                readZip();
            } else if (magic[0] == GZIP_MAGIC[0] && magic[1] == GZIP_MAGIC[1]) {
                readTar();
            } else {
                throw refused("this is not an archive of CMSIS-NN", "", "a zip, jar or tar.gz of its sources");
            }
        }

        private byte[] magic() throws IOException {
            try (InputStream in = Files.newInputStream(archive)) {
                byte[] magic = new byte[ZIP_MAGIC.length];
                in.readNBytes(magic, 0, magic.length);
                return magic;
            }
        }

        private void readZip() throws IOException {
            try (InputStream all = Files.newInputStream(archive)) {
                if (ZipEntries.areMoreThan(MOST_ENTRIES, all)) {
                    throw tooMany();
                }
            }
            try (ZipFile zip = ZipFile.builder().setPath(archive).get()) {
                for (ZipArchiveEntry entry : Collections.list(zip.getEntries())) {
                    Matcher source = SOURCE.matcher(entry.getName());
                    if (source.matches() && !entry.isDirectory()) {
                        if (entry.isUnixSymlink() || !zip.canReadEntryData(entry)) {
                            throw refused("the entry is a link, or is encrypted", entry.getName(), "plain files");
                        }
                        try (InputStream in = zip.getInputStream(entry)) {
                            add(source, in.readNBytes(MOST_FILE_BYTES + 1));
                        }
                    }
                }
            }
        }

        private void readTar() throws IOException {
            try (InputStream file = new BufferedInputStream(Files.newInputStream(archive));
                    LimitedInput all = new LimitedInput(new GzipCompressorInputStream(file));
                    LimitedInput headers = new LimitedInput(all);
                    TarArchiveInputStream tar = new TarArchiveInputStream(headers, StandardCharsets.UTF_8.name())) {
                all.limit(MOST_UNPACKED, "the unpacked files");
                int entries = 0;
                for (TarArchiveEntry entry = next(tar, headers); entry != null; entry = next(tar, headers)) {
                    entries++;
                    if (entries > MOST_ENTRIES) {
                        throw tooMany();
                    }
                    Matcher source = SOURCE.matcher(entry.getName());
                    if (source.matches() && !entry.isDirectory()) {
                        if (!entry.isFile() || entry.isSparse() || entry.isLink() || entry.isSymbolicLink()) {
                            throw refused("the entry is not a plain file", entry.getName(), "plain files");
                        }
                        add(source, tar.readNBytes(MOST_FILE_BYTES + 1));
                    }
                    // Content that is passed over does not count as the next header.
                    tar.transferTo(OutputStream.nullOutputStream());
                }
            }
        }

        private static TarArchiveEntry next(TarArchiveInputStream tar, LimitedInput headers) throws IOException {
            headers.limit(MOST_HEADER_BYTES, "the headers of an entry");
            TarArchiveEntry entry = tar.getNextEntry();
            headers.unlimited();
            return entry;
        }

        private KilnException tooMany() {
            return refused("the archive has too many entries", "", "at most " + MOST_ENTRIES);
        }

        private void add(Matcher source, byte[] content) {
            String path = source.group(1) + source.group(2);
            if (!Stream.of(path.split("/", -1))
                    .allMatch(segment -> SEGMENT.matcher(segment).matches())) {
                throw refused("the entry has no proper name", path, "letters, digits, and _ . + -");
            }
            bytes += content.length;
            if (content.length > MOST_FILE_BYTES || bytes > MOST_BYTES) {
                throw refused(
                        "the sources are too large",
                        path,
                        "at most " + MOST_FILE_BYTES + " bytes a file and " + MOST_BYTES + " in all");
            }
            if (spellings.put(path.toLowerCase(Locale.ROOT), path) != null) {
                throw refused("the entry exists twice", path, "each file once, whatever the case of letters");
            }
            files.put(path, Bytes.wrap(content));
            if (files.size() > MOST_FILES) {
                throw refused("the archive has too many sources", "", "at most " + MOST_FILES);
            }
        }

        /** The files below the folder that has the library's main header; of several, the one nearest to the root. */
        private SortedMap<String, Bytes> library() {
            String root = files.keySet().stream()
                    .filter(path -> path.equals(HEADER) || path.endsWith("/" + HEADER))
                    .map(path -> path.substring(0, path.length() - HEADER.length()))
                    .min(Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder()))
                    .orElseThrow(() -> refused("the archive has no " + HEADER, "", "CMSIS-NN's Include and Source"));
            SortedMap<String, Bytes> library = new TreeMap<>();
            files.forEach((path, content) -> {
                if (path.startsWith(root + "Include/") || path.startsWith(root + "Source/")) {
                    library.put(path.substring(root.length()), content);
                }
            });
            return library;
        }

        /** The error for an entry that is refused. Entry names are untrusted, so that control characters in them are not printed. */
        private KilnException refused(String what, String entry, String expected) {
            String where = entry.isEmpty() ? archive.toString() : archive + ", entry " + printable(entry);
            return Failure.LIBRARY.exception(what, where, expected);
        }

        private static String printable(String text) {
            String printable = text.replaceAll("[^ -~]", "?");
            return printable.length() > MOST_SHOWN ? printable.substring(0, MOST_SHOWN) + "…" : printable;
        }
    }
}
