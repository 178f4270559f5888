// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.board.BoardProfiles;
import io.kiln.maven.session.MojoLog;
import java.io.File;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Checks a folder of board profiles: every descriptor matches the schema, every file exists, and an empty application and the
 * largest one link for every board.
 *
 * @since 0.1.0
 */
@Mojo(name = "check-boards", defaultPhase = LifecyclePhase.COMPILE, threadSafe = true)
public final class CheckBoardsMojo extends AbstractKilnMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.check-boards.skip", defaultValue = "false")
    private boolean skipCheckBoards;

    /**
     * Folder of compilers and objects that builds share. If not set, {@code KILN_HOME}, or {@code kiln} beside the local repository.
     */
    @Parameter(property = "kiln.home")
    private File home;

    /** The folder of the profiles: one folder with a {@code board.yaml} for each. */
    @Parameter(property = "kiln.boardsDirectory", defaultValue = "${project.basedir}/src/main/boards")
    private File boardsDirectory;

    @Override
    boolean isGoalSkipped() {
        return skipCheckBoards;
    }

    @Override
    void run() {
        new BoardProfiles(boardsDirectory.toPath(), new MojoLog(getLog()))
                .check(projectLayout().reports().resolve("boards"), environment(home));
    }
}
