// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.part;

import io.kiln.flow.board.BoardProfiles;
import io.kiln.maven.AbstractPartMojo;
import java.io.File;
import org.apache.maven.plugins.annotations.Parameter;

/** Goals of packaging {@code board-profile}. */
abstract class AbstractProfilesMojo extends AbstractPartMojo {
    /**
     * The folder of the profiles: one folder with a {@code board.yaml} for each.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.boardsDirectory", defaultValue = "${project.basedir}/src/main/boards")
    private File boardsDirectory;

    final BoardProfiles profiles() {
        return new BoardProfiles(boardsDirectory.toPath(), log());
    }
}
