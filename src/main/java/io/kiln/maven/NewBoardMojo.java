// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.toolchain.pack.Packs.PackSource;
import java.nio.file.Path;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Copies the board {@code kiln.board} to {@code src/main/boards} under another id, or writes a board for a device of a
 * CMSIS-Pack, as a starting point for a board of your own.
 *
 * @since 0.1.0
 */
@Mojo(name = "new-board", requiresProject = false, threadSafe = true)
public final class NewBoardMojo extends AbstractBoardMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.new-board.skip", defaultValue = "false")
    private boolean skipNewBoard;

    /** Id of the new board, the name of its folder: lower-case letters, digits, {@code -}, {@code _} and {@code .}; the device's name if not set. */
    @Parameter(property = "kiln.newBoard", defaultValue = "")
    private String newBoard;

    /** A CMSIS-Pack: a {@code .pack}, a {@code .pdsc}, a folder of such, or coordinates. */
    @Parameter(property = "kiln.pack")
    private String pack;

    /** The device of the pack; {@code :CORE} behind it if it has several cores. */
    @Parameter(property = "kiln.device", defaultValue = "")
    private String device;

    @Override
    boolean isGoalSkipped() {
        return skipNewBoard;
    }

    @Override
    void run() {
        String id = newBoard == null ? "" : newBoard;
        if (pack == null) {
            boardFlow()
                    .newBoard(boardSpec(Optional.empty()), id, projectLayout().userBoards());
        } else {
            Path place = PackSource.of(fetcher()).find(pack, folder());
            boardFlow()
                    .newBoard(
                            place,
                            device == null ? "" : device,
                            id,
                            projectLayout().userBoards());
        }
    }
}
