// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.board.BoardProfiles;
import io.kiln.maven.session.MojoLog;
import java.io.File;
import java.nio.file.Path;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Packs a folder of board profiles into the project's artifact: a reproducible zip with one folder per board at its root.
 *
 * @since 0.1.0
 */
@Mojo(name = "pack-boards", defaultPhase = LifecyclePhase.PACKAGE, threadSafe = true)
public final class PackBoardsMojo extends AbstractKilnMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.pack-boards.skip", defaultValue = "false")
    private boolean skipPackBoards;

    /** The folder of the profiles: one folder with a {@code board.yaml} for each. */
    @Parameter(property = "kiln.boardsDirectory", defaultValue = "${project.basedir}/src/main/boards")
    private File boardsDirectory;

    @Override
    boolean isGoalSkipped() {
        return skipPackBoards;
    }

    @Override
    void run() {
        Path zip = projectLayout().image("zip");
        new BoardProfiles(boardsDirectory.toPath(), new MojoLog(getLog())).pack(zip);
        project().getArtifact().setFile(zip.toFile());
    }
}
