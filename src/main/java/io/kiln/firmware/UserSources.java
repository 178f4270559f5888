// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.GitLfs;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.firmware.CodeFolder.Role;
import java.io.IOException;
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

/**
 * Reads a folder of the user's own code. It refuses files that would silently be left out of the program: a file that is
 * neither compiled nor linked, a header, a document or an editor's leftover has to be read by a source. A folder of
 * headers may hold anything, because nothing in it is compiled for its own sake.
 */
final class UserSources {
    private static final String EXPECTED =
            "C (.c, .h, .inc, .def), C++ (.cpp, .cc, .cxx, .hpp), assembler (.S, .s), a static library (.a), or a file"
                    + " that one of them includes";

    /** Most files and bytes of a folder of headers, which may be a whole vendor's package by mistake. */
    private static final int MOST_HEADERS = 20_000;

    private static final long MOST_BYTES = 256L << 20;

    /** How C and assembler include other files. */
    private static final Pattern READING =
            Pattern.compile("(?:#\\s*include|#\\s*import|#\\s*embed|\\.incbin|\\.include)\\s*[\"<]([^\">\\n]+)[\">]");

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
