// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Optimize;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.Toolchain;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A C project on disk that builds with and without Maven.
 *
 * @param board the board
 * @param toolchain the compiler
 * @param optimize what to optimize for
 * @param directory absolute path of the project; compilers run in it
 * @param code the user's own code, whose folders are copied into the project
 * @param buildDirectory absolute path of this build's objects and records
 * @param units the sources to compile, in link order
 * @param objects object files of a model library, relative to the project, linked unchanged
 * @param headers every other file of the project, sorted; a new one may hide one that was read before
 * @param includes include options, in order
 * @param linkerScript name within the board's folder; empty for the system linker's default
 * @param pluginVersion version of Kiln
 * @param strangers the untrusted files
 */
public record FirmwareProject(
        Board board,
        Toolchain toolchain,
        Optimize optimize,
        Path directory,
        UserCode code,
        Path buildDirectory,
        List<SourceUnit> units,
        List<String> objects,
        List<String> headers,
        List<String> includes,
        Optional<String> linkerScript,
        String pluginVersion,
        Strangers strangers) {
    public FirmwareProject {
        units = List.copyOf(units);
        objects = List.copyOf(objects);
        headers = List.copyOf(headers);
        includes = List.copyOf(includes);
    }

    /** Whether it contains Kiln's application, because the project has no {@code main} of its own. */
    public boolean hasDefaultApplication() {
        return units.stream().anyMatch(unit -> unit.path().startsWith(ProjectFiles.APPLICATION + "/"));
    }

    /** The user's static libraries, relative to the project. */
    List<String> libraries() {
        return headers.stream()
                .filter(file -> UserFile.of(Staleness.fileName(file)) == UserFile.LIBRARY)
                .filter(file -> code.folderOf(file)
                        .filter(folder -> folder.role().isCompiled())
                        .isPresent())
                .toList();
    }

    /** Folder of the objects. */
    Path objectDirectory() {
        return buildDirectory.resolve("objects");
    }

    Path objectFile(SourceUnit unit) {
        return objectDirectory().resolve(unit.object());
    }
}
