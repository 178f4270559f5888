// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.WholeFiles;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.toolchain.board.Board;
import java.nio.file.Path;
import java.util.List;

/** Writes a board's own Tcl to files, for OpenOCD. */
public final class BoardScripts {
    private BoardScripts() {}

    /** The folders that OpenOCD searches before its own; empty if the board has no Tcl. */
    public static List<Path> write(Board board, BuildSpec.Layout layout) {
        Path folder = layout.reports().resolve("openocd").toAbsolutePath();
        WholeFiles.clear(folder);
        WholeFiles.write(folder, board.scripts());
        return board.scripts().isEmpty() ? List.of() : List.of(folder);
    }
}
