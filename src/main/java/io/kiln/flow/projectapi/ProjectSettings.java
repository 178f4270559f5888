// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.projectapi;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.base.Failure;
import io.kiln.base.Log;
import io.kiln.device.projectapi.ServerInfo.ProjectOption.OptionValues;
import io.kiln.firmware.TrustedArchives;
import io.kiln.flow.spec.BoardSources;
import io.kiln.report.Json;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a server outside Maven needs of the build that wrote its folder, in the file {@code kiln-project.json}.
 *
 * @param home folder of unpacked compilers
 * @param gnuHomes installations of GNU compilers
 * @param boards artifacts of packaging {@code board-profile}
 * @param trustedBoards boards in them that may bring programs, by coordinates
 * @param trustedArchives archives whose C is compiled like the user's own
 * @param options values of the options when the project was generated; empty in a template
 */
record ProjectSettings(
        String home,
        List<String> gnuHomes,
        List<BoardArtifact> boards,
        Set<String> trustedBoards,
        Set<String> trustedArchives,
        ObjectNode options) {
    private static final String FILE = "kiln-project.json";

    ProjectSettings {
        gnuHomes = List.copyOf(gnuHomes);
        boards = List.copyOf(boards);
        trustedBoards = new TreeSet<>(trustedBoards);
        trustedArchives = new TreeSet<>(trustedArchives);
    }

    record BoardArtifact(String zip, String coordinates) {}

    /** The settings of a template. */
    static ProjectSettings of(ToolchainEnvironment environment, BoardSources boards, TrustedArchives archives) {
        return new ProjectSettings(
                environment.home().toString(),
                environment.gnuHomes().stream().map(Path::toString).toList(),
                boards.archives().stream()
                        .map(each -> new BoardArtifact(
                                each.zip().toAbsolutePath().normalize().toString(), each.coordinates()))
                        .toList(),
                boards.trusted(),
                archives.entries(),
                OptionValues.none().node());
    }

    /** Reads the settings of a server's folder. */
    static ProjectSettings read(Path directory) {
        return Json.read(directory.resolve(FILE), ProjectSettings.class);
    }

    /** Writes them to a server's folder. */
    void write(Path directory) {
        Json.write(directory.resolve(FILE), this);
    }

    /** The settings of a project generated with these options, which trusts one more archive. */
    ProjectSettings with(OptionValues values, Set<String> alsoTrusted) {
        Set<String> trusted = new TreeSet<>(trustedArchives);
        trusted.addAll(alsoTrusted);
        return new ProjectSettings(home, gnuHomes, boards, trustedBoards, trusted, values.node());
    }

    BoardSources boardSources() {
        return new BoardSources(
                boards.stream()
                        .map(each -> new BoardSources.Archive(Path.of(each.zip()), each.coordinates()))
                        .toList(),
                trustedBoards);
    }

    TrustedArchives trusted() {
        return new TrustedArchives(trustedArchives);
    }

    /** The environment of a server's builds. Compilers must be unpacked already: outside Maven nothing can be fetched. */
    ToolchainEnvironment environment(Log log) {
        return new ToolchainEnvironment(
                Path.of(home),
                gnuHomes.stream().map(Path::of).toList(),
                (group, artifact, version, classifier, extension) -> {
                    throw Failure.API.exception(
                            artifact + " " + version + " is not unpacked, and a Project API server fetches nothing",
                            home,
                            "the compiler that kiln:project-api unpacks",
                            "Run kiln:project-api again");
                },
                log);
    }
}
