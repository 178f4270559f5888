// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.spec.BoardSpec;
import io.kiln.maven.artifact.BoardArtifacts;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Parameter;

/** Goals about a board, without a model. */
abstract class AbstractBoardMojo extends AbstractFlowMojo {
    /**
     * The board: its id, or {@code group:artifact:version:id} for one from an artifact of packaging {@code board-profile}. The
     * boards of dependencies of type {@code board-profile} are known by their ids. {@code kiln:boards} lists those built in and
     * the project's own.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.board", defaultValue = "mps2-an386")
    private String board;

    /**
     * Boards from artifacts that may bring their own Tcl or emulator, both of which can run programs on this computer: {@code group:artifact},
     * {@code group:artifact:version} or {@code group:artifact:version:id}, separated by commas. Every other such board is refused.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.trustBoard", defaultValue = "")
    private String trustBoard;

    /**
     * The board among all that the project sees.
     *
     * @param toolchain {@code kiln.toolchain}; empty if it is not set
     */
    final BoardSpec boardSpec(Optional<String> toolchain) {
        BoardArtifacts artifacts = new BoardArtifacts(board);
        return new BoardSpec(
                artifacts.id(),
                boardSources(artifacts, trustBoard).boards(projectLayout().userBoards()),
                toolchain);
    }
}
