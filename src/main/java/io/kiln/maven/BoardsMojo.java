// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.BoardList;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Lists the boards there are: built in, and the project's own in {@code src/main/boards}.
 *
 * @since 0.1.0
 */
@Mojo(name = "boards", requiresProject = false, threadSafe = true)
public final class BoardsMojo extends AbstractKilnMojo {
    /**
     * Skips this goal.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.boards.skip", defaultValue = "false")
    private boolean skipBoards;

    @Override
    boolean isGoalSkipped() {
        return skipBoards;
    }

    @Override
    void run() {
        new BoardList(folder().resolve("src/main/boards")).lines().forEach(getLog()::info);
    }
}
