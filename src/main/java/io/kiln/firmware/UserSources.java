// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Bytes;
import io.kiln.base.FileFailure;
import io.kiln.base.GitLfs;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Reads the project's own C. It refuses files that would silently be left out of the program: a file that is neither
 * compiled nor a header, a document or an editor's leftover has to be read by a source.
 */
final class UserSources {
    private static final String EXPECTED =
            "C (.c, .h, .inc, .def), assembler (.S, .s), or a file that one of them includes";

    /** How C and assembler include other files. */
    private static final Pattern READING =
            Pattern.compile("(?:#\\s*include|#\\s*import|#\\s*embed|\\.incbin|\\.include)\\s*[\"<]([^\">\\n]+)[\">]");

    private final Path root;
    private final Problems problems = new Problems();
    private final SortedMap<String, Bytes> files = new TreeMap<>();

    private UserSources(Path root) {
        this.root = root;
    }

    /**
     * All files below the folder except hidden ones and editors' leftovers, by relative path; empty if the folder does
     * not exist.
     *
     * @throws KilnException naming every file that is not accepted
     */
    static SortedMap<String, Bytes> read(Optional<Path> folder) {
        if (folder.filter(path -> Files.exists(path, LinkOption.NOFOLLOW_LINKS)).isEmpty()) {
            return new TreeMap<>();
        }
        if (!Files.isDirectory(folder.get())) {
            throw new KilnException(
                    new Problem("this is not a folder", folder.get().toString(), "a folder of C sources", ""));
        }
        UserSources sources = new UserSources(folder.get());
        sources.walk();
        sources.refuseWhatNobodyReads();
        sources.problems.throwIfAny();
        return sources.files;
    }

    /** Follows links: sources may be shared that way. */
    private void walk() {
        try (Stream<Path> walk = Files.walk(root, FileVisitOption.FOLLOW_LINKS)) {
            for (Path path : walk.filter(path -> !Files.isDirectory(path)).toList()) {
                take(path, root.relativize(path).toString().replace('\\', '/'));
            }
        } catch (IOException | UncheckedIOException e) {
            throw FileFailure.of("cannot read", root, e);
        }
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
