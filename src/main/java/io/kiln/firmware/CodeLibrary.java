// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.GitLfs;
import io.kiln.base.KilnException;
import io.kiln.base.PlainZip.StoredZip;
import io.kiln.base.Problems;
import io.kiln.base.WholeFiles;
import io.kiln.firmware.CodeFolder.Role;
import io.kiln.toolchain.compiler.TargetOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * C that several firmwares have in common, an artifact of packaging {@code firmware-library}: sources in {@code c}, headers
 * in {@code include}, and static libraries in {@code lib/<core>}, such as {@code lib/cortex-m4/libdsp.a}.
 *
 * @param name its name in the C project and in debug information
 * @param place the artifact, or the folder {@code src/main} of a module that is not packaged yet
 */
public record CodeLibrary(String name, Path place) {
    private static final String SOURCES = "c";
    private static final String HEADERS = "include";
    private static final String ARCHIVES = "lib";
    private static final int DIGITS = 16;
    private static final int MOST_ENTRIES = 20_000;
    private static final long MOST_BYTES = 256L << 20;

    /** The path of a file in one of the folders of a library; no part of it is {@code .} or {@code ..}. */
    private static final Pattern NAME =
            Pattern.compile("(?:c|include|lib)(?:/(?!\\.\\.?(?:/|$))[^/\\\\\\p{Cntrl}:]{1,100}){1,16}");

    /**
     * Adds the library to the code of a project.
     *
     * @param cpu the core that the code is compiled for
     * @param folder where artifacts are unpacked
     * @throws KilnException if the library has nothing for the core, or the artifact is damaged
     */
    public UserCode addTo(UserCode code, String cpu, Path folder) {
        Path root = Files.isDirectory(place) ? place : unpacked(folder);
        UserCode all = code;
        if (Files.isDirectory(root.resolve(SOURCES))) {
            all = all.with(folder(root, SOURCES, Role.PRIVATE));
        }
        if (Files.isDirectory(root.resolve(HEADERS))) {
            all = all.with(folder(root, HEADERS, Role.HEADERS));
        }
        String archives = ARCHIVES + "/" + cpu;
        if (Files.isDirectory(root.resolve(archives))) {
            all = all.with(folder(root, archives, Role.PRIVATE));
        } else if (!cpu.equals(TargetOptions.HOST)
                && Files.isDirectory(root.resolve(ARCHIVES))
                && !Files.isDirectory(root.resolve(SOURCES))) {
            throw Failure.LIBRARY.exception(
                    "the library " + name + " has nothing for the core " + cpu,
                    place.toString(),
                    "a folder " + archives + " with static libraries, or sources in " + SOURCES);
        }
        if (all.equals(code) && !Files.isDirectory(root.resolve(ARCHIVES))) {
            throw Failure.LIBRARY.exception(
                    "the library " + name + " has no code",
                    place.toString(),
                    "sources in c, headers in include, or static libraries in lib/<core>");
        }
        return all;
    }

    private CodeFolder folder(Path root, String part, Role role) {
        return new CodeFolder(root.resolve(part), "libraries/" + name + "/" + part, name + "/" + part, role);
    }

    /** Unpacks each content once, into a folder of its own that appears complete or not at all. */
    private Path unpacked(Path folder) {
        Path target = folder.resolve(name + "-" + Digests.sha256(place).substring(0, DIGITS));
        Path mark = target.resolve(".complete");
        if (!Files.exists(mark)) {
            WholeFiles.write(target, read(place));
            WholeFiles.write(mark, "");
        }
        return target;
    }

    /**
     * Writes the artifact of a module: the same bytes for the same files.
     *
     * @param main the module's {@code src/main}
     * @throws KilnException naming every file that no firmware would take
     */
    public static void pack(Path main, Path zip) {
        UserCode code = UserCode.NONE;
        for (String part : new String[] {SOURCES, HEADERS, ARCHIVES}) {
            if (Files.isDirectory(main.resolve(part))) {
                Role role = part.equals(HEADERS) ? Role.HEADERS : Role.PRIVATE;
                code = code.with(new CodeFolder(main.resolve(part), part, part, role));
            }
        }
        SortedMap<String, Bytes> files = new TreeMap<>(UserSources.read(code));
        if (files.isEmpty()) {
            throw Failure.LIBRARY.exception(
                    "the library has no code",
                    main.toString(),
                    "sources in src/main/c, headers in src/main/include, or static libraries in src/main/lib/<core>");
        }
        byte[] content = StoredZip.of(files);
        read(zip, content);
        WholeFiles.write(zip, content);
    }

    /** The files of a library's zip by path, read in bounded memory; names that lead out of its folders are refused. */
    private static SortedMap<String, Bytes> read(Path zip) {
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
    private static SortedMap<String, Bytes> read(Path zip, byte[] content) {
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
                            "this is not a zip: " + e.getMessage(), zip.toString(), "a firmware library"),
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
        return Failure.LIBRARY.exception(what, zip.toString(), expected);
    }

    /**
     * Reads a folder of the user's own code. It refuses files that would silently be left out of the program: a file that is
     * neither compiled nor linked, a header, a document or an editor's leftover has to be read by a source. A folder of
     * headers may hold anything, because nothing in it is compiled for its own sake.
     */
    static final class UserSources {
        private static final String EXPECTED =
                "C (.c, .h, .inc, .def), C++ (.cpp, .cc, .cxx, .hpp), assembler (.S, .s), a static library (.a), or a file"
                        + " that one of them includes";

        /** Most files and bytes of a folder of headers, which may be a whole vendor's package by mistake. */
        private static final int MOST_HEADERS = 20_000;

        private static final long MOST_BYTES = 256L << 20;

        /** How C and assembler include other files. */
        private static final Pattern READING = Pattern.compile(
                "(?:#\\s*include|#\\s*import|#\\s*embed|\\.incbin|\\.include)\\s*[\"<]([^\">\\n]+)[\">]");

        private final CodeFolder folder;
        private final Path root;
        private long bytes;
        private final Problems problems = new Problems(Failure.CODE);
        private final SortedMap<String, Bytes> files = new TreeMap<>();

        private UserSources(CodeFolder folder) {
            this.folder = folder;
            this.root = folder.path();
        }

        /**
         * The files of all folders, by their path in the C project.
         *
         * @throws KilnException naming every file that is not accepted, and every folder that is missing
         */
        static SortedMap<String, Bytes> read(UserCode code) {
            SortedMap<String, Bytes> all = new TreeMap<>();
            Problems problems = new Problems(Failure.CODE);
            for (CodeFolder folder : code.folders()) {
                UserSources sources = new UserSources(folder);
                sources.read();
                sources.problems.list().forEach(problems::add);
                sources.files.forEach((name, content) -> all.put(folder.copy() + "/" + name, content));
            }
            problems.throwIfAny();
            return all;
        }

        /** Reads all files below the folder except hidden ones and editors' leftovers, by relative path. */
        private void read() {
            if (!Files.exists(root, LinkOption.NOFOLLOW_LINKS)) {
                if (folder.role() != Role.MAIN) {
                    problems.add(
                            "the folder does not exist",
                            root.toString(),
                            folder.role().isCompiled() ? "a folder of sources" : "a folder of headers",
                            "Correct " + (folder.role().isCompiled() ? "<sources>" : "kiln.include"));
                }
            } else if (!Files.isDirectory(root)) {
                problems.add("this is not a folder", root.toString(), "a folder of C sources");
            } else {
                walk();
                if (folder.role().isCompiled()) {
                    refuseWhatNobodyReads();
                }
            }
        }

        /** Visits the files below a folder, following links: sources may be shared that way. */
        private void walk() {
            try (Stream<Path> walk = Files.walk(root, FileVisitOption.FOLLOW_LINKS)) {
                for (Path path : (Iterable<Path>) walk.filter(path -> !Files.isDirectory(path))::iterator) {
                    take(path, root.relativize(path).toString().replace('\\', '/'));
                    if (isTooMuch()) {
                        return;
                    }
                }
            } catch (IOException | UncheckedIOException e) {
                throw FileFailure.of("cannot read", root, e);
            }
        }

        private boolean isTooMuch() {
            boolean isTooMuch = !folder.role().isCompiled() && (files.size() > MOST_HEADERS || bytes > MOST_BYTES);
            if (isTooMuch) {
                problems.add(
                        "the folder is too large to be copied",
                        root.toString(),
                        "at most " + MOST_HEADERS + " files and " + (MOST_BYTES >> 20) + " MiB of headers",
                        "Name the folders of headers in it that are needed");
            }
            return isTooMuch;
        }

        private void take(Path path, String name) throws IOException {
            if (name.startsWith(".") || name.contains("/.") || kind(name) == UserFile.LEFTOVER) {
                return;
            }
            if (!Files.isRegularFile(path)) {
                problems.add(
                        Files.isSymbolicLink(path) ? "this link is broken" : "this is not a file",
                        path.toString(),
                        EXPECTED,
                        "Remove it");
            } else if (name.chars().anyMatch(Character::isISOControl)) {
                problems.add("the name has control characters", printable(path), "a plain name", "Rename it");
            } else {
                GitLfs.pointer(path).ifPresent(problems::add);
                bytes += Files.size(path);
                files.put(name, Bytes.wrap(Files.readAllBytes(path)));
            }
        }

        private void refuseWhatNobodyReads() {
            List<String> others = files.keySet().stream()
                    .filter(name -> kind(name) == UserFile.OTHER)
                    .toList();
            Set<String> read = others.isEmpty() ? Set.of() : readByOthers();
            for (String name : others) {
                if (!read.contains(fileName(name))) {
                    problems.add(
                            "this file is not compiled, and no source includes it",
                            root.resolve(name).toString(),
                            EXPECTED,
                            UserFile.advice(fileName(name)));
                }
            }
        }

        /** Names, without folders, of the files that sources and headers read. */
        private Set<String> readByOthers() {
            List<String> texts = new ArrayList<>();
            files.forEach((name, content) -> {
                UserFile kind = kind(name);
                if (kind == UserFile.COMPILED || kind == UserFile.HEADER) {
                    texts.add(SourceText.withoutComments(content.text()));
                }
            });
            Set<String> names = new TreeSet<>();
            for (String text : texts) {
                READING.matcher(text)
                        .results()
                        .map((MatchResult found) -> fileName(found.group(1)))
                        .forEach(names::add);
            }
            return names;
        }

        private static UserFile kind(String name) {
            return UserFile.of(fileName(name));
        }

        private static String fileName(String name) {
            return name.substring(name.lastIndexOf('/') + 1);
        }

        private static String printable(Path path) {
            return path.toString().replaceAll("\\p{Cntrl}", "?");
        }
    }
}
