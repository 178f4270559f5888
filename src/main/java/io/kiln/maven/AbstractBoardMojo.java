// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.BoardFlow;
import io.kiln.flow.spec.BoardSources;
import io.kiln.flow.spec.BoardSpec;
import io.kiln.maven.artifact.BoardArtifacts;
import io.kiln.maven.artifact.ModelArtifacts;
import io.kiln.maven.session.MojoLog;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.io.File;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Parameter;

/** Goals about a board, without a model. */
abstract class AbstractBoardMojo extends AbstractKilnMojo {
    /**
     * Folder of compilers and objects that builds share. If not set, {@code KILN_HOME}, or {@code kiln} beside the local repository.
     */
    @Parameter(property = "kiln.home")
    private File home;

    /**
     * The board: its id, as {@code kiln:boards} lists it, or {@code group:artifact:version:id} of packaging {@code board-profile}.
     */
    @Parameter(property = "kiln.board", defaultValue = "mps2-an386")
    private String board;

    /**
     * Boards from artifacts that may bring their own Tcl or emulator, which can run programs here: {@code group:artifact[:version[:id]]},
     * separated by commas. Others are refused.
     */
    @Parameter(property = "kiln.trustBoard", defaultValue = "")
    private String trustBoard;

    /** The flow of boards for this session and project. */
    final BoardFlow boardFlow() {
        return new BoardFlow(new MojoLog(getLog()), environment());
    }

    /** Where toolchains come from. */
    final ToolchainEnvironment environment() {
        return environment(home);
    }

    /** Finds models by files and by coordinates. */
    final ModelArtifacts modelArtifacts() {
        return modelArtifacts(home);
    }

    /** The board as the user names it. */
    final BoardArtifacts named() {
        return new BoardArtifacts(board);
    }

    /** All boards that the project sees. */
    final BoardSources boardSources() {
        return boardSources(named(), trustBoard);
    }

    /**
     * The board among all that the project sees.
     *
     * @param toolchain {@code kiln.toolchain}; empty if it is not set
     */
    final BoardSpec boardSpec(Optional<String> toolchain) {
        return new BoardSpec(named().id(), boardSources().boards(projectLayout().userBoards()), toolchain);
    }
}
