// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Optimize;
import io.kiln.firmware.ObjectCache.Staleness;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.Toolchain;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A C project on disk that builds with and without Maven.
 *
 * @param request what it was made of
 * @param units the sources to compile, in link order
 * @param objects object files of a model library, relative to the project, linked unchanged
 * @param headers every other file of the project, sorted; a new one may hide one that was read before
 * @param includes include options, in order
 * @param linkerScript name within the board's folder; empty for the system linker's default
 * @param strangers the untrusted files
 */
public record FirmwareProject(
        FirmwareRequest request,
        List<SourceUnit> units,
        List<String> objects,
        List<String> headers,
        List<String> includes,
        Optional<String> linkerScript,
        Strangers strangers) {
    public FirmwareProject {
        units = List.copyOf(units);
        objects = List.copyOf(objects);
        headers = List.copyOf(headers);
        includes = List.copyOf(includes);
    }

    public Board board() {
        return request.board();
    }

    public Toolchain toolchain() {
        return request.toolchain();
    }

    public Optimize optimize() {
        return request.optimize();
    }

    /** Absolute path of the project; compilers run in it. */
    public Path directory() {
        return request.directory();
    }

    /** The user's own code, whose folders are copied into the project. */
    public UserCode code() {
        return request.code();
    }

    /** Absolute path of this build's objects and records. */
    public Path buildDirectory() {
        return request.buildDirectory();
    }

    public String pluginVersion() {
        return request.pluginVersion();
    }

    /** Whether it contains Kiln's application, because the project has no {@code main} of its own. */
    public boolean hasDefaultApplication() {
        return units.stream().anyMatch(unit -> unit.path().equals(ProjectFiles.APPLICATION + "/main.c"));
    }

    /** The user's static libraries, relative to the project. */
    List<String> libraries() {
        return headers.stream()
                .filter(file -> UserFile.of(Staleness.fileName(file)) == UserFile.LIBRARY)
                .filter(file -> code().folderOf(file)
                        .filter(folder -> folder.role().isCompiled())
                        .isPresent())
                .toList();
    }

    /** Folder of the objects. */
    Path objectDirectory() {
        return buildDirectory().resolve("objects");
    }

    Path objectFile(SourceUnit unit) {
        return objectDirectory().resolve(unit.object());
    }

    /**
     * The untrusted files of a project: those of untrusted parts of the board's profile, and those of untrusted archives.
     * They are compiled through the {@link Fence}, and so is everything that reads them.
     *
     * @param files how to trust a file's author, by the file's path in the project
     */
    public record Strangers(NavigableMap<String, String> files) {
        /** No untrusted files: all are the user's or Kiln's. */
        public static final Strangers NONE = new Strangers(new TreeMap<>());

        public Strangers {
            files = Collections.unmodifiableNavigableMap(new TreeMap<>(files));
        }

        public boolean isEmpty() {
            return files.isEmpty();
        }

        /** The files, in one line. */
        String names() {
            return String.join(",", files.keySet());
        }

        /** How to trust the first untrusted file among these; empty if there is none. */
        Optional<String> advice(Collection<String> paths) {
            return paths.stream()
                    .filter(path -> files.containsKey(path))
                    .map(path -> files.get(path))
                    .findFirst();
        }

        /** How to trust all authors, each listed once. */
        public List<String> advice() {
            return files.values().stream().distinct().toList();
        }
    }
}
