// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.spec.BoardSpec;
import io.kiln.maven.session.JsonOutput;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Lists the boards and where they come from: built in, the project's own in {@code src/main/boards}, and those of
 * dependencies. With {@code -Dkiln.board} on the command line, shows that board in full; it may be named by coordinates.
 *
 * @since 0.1.0
 */
@Mojo(name = "boards", requiresProject = false, threadSafe = true)
public final class BoardsMojo extends AbstractBoardMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.boards.skip", defaultValue = "false")
    private boolean skipBoards;

    /** How it is shown: {@code text} in the log for people, {@code json} on standard output for programs ({@code mvn -q}). */
    @Parameter(property = "kiln.output", defaultValue = "text")
    private String output;

    @Override
    boolean isGoalSkipped() {
        return skipBoards;
    }

    /** Only a board named on the command line is shown in full, not one that the project configures. */
    @Override
    void run() {
        boolean isAsked = session().getUserProperties().containsKey("kiln.board");
        BoardSpec spec = boardSpec(Optional.empty());
        Optional<String> one = isAsked ? Optional.of(spec.id()) : Optional.empty();
        if (JsonOutput.isAsked(output)) {
            JsonOutput.print(boardFlow().boardsReport(spec.boards(), one));
        } else {
            boardFlow().boards(spec.boards(), one);
        }
    }
}
