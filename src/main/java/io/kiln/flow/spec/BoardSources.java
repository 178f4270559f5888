// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.base.WholeFiles.TemporaryFolder;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.pack.Packs.PackSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Sources of boards beside the built-in ones and the project's own.
 *
 * @param archives artifacts of packaging {@code board-profile}
 * @param trusted boards in them that may bring their own Tcl and emulator: {@code group:artifact}, {@code
 *     group:artifact:version} or {@code group:artifact:version:id}
 * @param packs finds the CMSIS-Packs that boards name by coordinates
 */
public record BoardSources(List<Archive> archives, Set<String> trusted, PackSource packs) {
    /** No further sources. */
    public static final BoardSources NONE = new BoardSources(List.of(), Set.of());

    public BoardSources {
        archives = List.copyOf(archives);
        trusted = Set.copyOf(trusted);
    }

    /** Sources of boards whose packs are files. */
    public BoardSources(List<Archive> archives, Set<String> trusted) {
        this(archives, trusted, PackSource.NONE);
    }

    private static final Pattern COORDINATES = Pattern.compile("[A-Za-z0-9_.-]+(:[A-Za-z0-9_.-]+){1,3}");

    /**
     * An artifact.
     *
     * @param zip its file, or the folder of profiles that will be packed into it
     * @param coordinates {@code group:artifact:version}
     */
    public record Archive(Path zip, String coordinates) {}

    /**
     * All visible boards.
     *
     * @throws io.kiln.base.KilnException if an archive cannot be read safely, or if a trusted board is not named by coordinates
     */
    public Boards boards(Path own) {
        Boards boards = Boards.builtIn().with(packs);
        for (Archive archive : archives) {
            boards = Files.isDirectory(archive.zip()) ? packed(boards, archive) : with(boards, archive.zip(), archive);
        }
        Problems problems = new Problems(Failure.BOARD);
        for (String each : trusted) {
            if (!COORDINATES.matcher(each).matches()) {
                problems.add(
                        "\"" + each + "\" is not the name of a board from a repository: ids alone are not unique",
                        "kiln.trustBoard",
                        "group:artifact, group:artifact:version or group:artifact:version:id",
                        advice(boards.coordinates(each)));
            }
        }
        problems.throwIfAny();
        return boards.with(own);
    }

    private static String advice(List<String> coordinates) {
        return coordinates.isEmpty()
                ? "Only boards from repositories need trust"
                : "Write <trustBoard>" + String.join(",", coordinates) + "</trustBoard>";
    }

    /** Adds a folder of profiles, which counts as the artifact that it will become. */
    private Boards packed(Boards boards, Archive archive) {
        return TemporaryFolder.use("kiln-boards", folder -> {
            Path zip = folder.resolve("boards.zip");
            Boards.pack(archive.zip(), zip);
            return with(boards, zip, archive);
        });
    }

    private Boards with(Boards boards, Path zip, Archive archive) {
        return boards.with(zip, archive.coordinates(), trusted);
    }
}
