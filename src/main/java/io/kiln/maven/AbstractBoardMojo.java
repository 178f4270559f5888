// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.base.WholeFiles;
import io.kiln.flow.BoardFlow;
import io.kiln.flow.spec.BoardSources;
import io.kiln.flow.spec.BoardSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.maven.artifact.ReactorFolders.BoardArtifacts;
import io.kiln.maven.artifact.ReactorFolders.ModelArtifacts;
import io.kiln.maven.session.MojoLog;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.io.File;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Parameter;

/** Goals about a board, without a model. */
abstract class AbstractBoardMojo extends AbstractKilnMojo {
    private static final String IMAGE = ".elf";

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
     * Boards from artifacts whose own Tcl or emulator may run programs on this computer: {@code group:artifact[:version[:id]]}, separated by
     * commas. Others are refused.
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

    /** The folders of the last build; if there is no project for it, with the only image in its folder. */
    final Layout onlyBuild(File outputDirectory) {
        Layout layout = lastBuild(outputDirectory);
        if (isFirmware() || !Files.isDirectory(layout.out())) {
            return layout;
        }
        List<String> images = WholeFiles.list(layout.out()).stream()
                .map(file -> file.getFileName().toString())
                .filter(name -> name.endsWith(IMAGE))
                .toList();
        return images.size() == 1 ? apart(outputDirectory, images.get(0).replace(IMAGE, "")) : layout;
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
