// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.toolchain.board.Boards;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * Where boards come from, beside those that come with Kiln and the project's own.
 *
 * @param archives artifacts of packaging {@code board-profile}
 * @param trusted ids of the boards in them that may name Tcl, and an emulator, of their own
 */
public record BoardSources(List<Archive> archives, Set<String> trusted) {
    /** Nothing else. */
    public static final BoardSources NONE = new BoardSources(List.of(), Set.of());

    public BoardSources {
        archives = List.copyOf(archives);
        trusted = Set.copyOf(trusted);
    }

    /**
     * An artifact.
     *
     * @param zip its file
     * @param coordinates how messages name it
     */
    public record Archive(Path zip, String coordinates) {}

    /** All boards that can be seen. */
    Boards boards(Path own) {
        Boards boards = Boards.builtIn();
        for (Archive archive : archives) {
            boards = boards.with(archive.zip(), archive.coordinates(), trusted);
        }
        return boards.with(own);
    }
}
