// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import java.util.Optional;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Copies the board {@code kiln.board} to {@code src/main/boards} under another id, as a starting point for a board of
 * your own.
 *
 * @since 0.1.0
 */
@Mojo(name = "new-board", requiresProject = false, threadSafe = true)
public final class NewBoardMojo extends AbstractBoardMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.new-board.skip", defaultValue = "false")
    private boolean skipNewBoard;

    /** Id of the new board, the name of its folder: lower-case letters, digits, {@code -}, {@code _} and {@code .}. */
    @Parameter(property = "kiln.newBoard", defaultValue = "")
    private String newBoard;

    @Override
    boolean isGoalSkipped() {
        return skipNewBoard;
    }

    @Override
    void run() {
        boardFlow()
                .newBoard(
                        boardSpec(Optional.empty()),
                        newBoard == null ? "" : newBoard,
                        projectLayout().userBoards());
    }
}
