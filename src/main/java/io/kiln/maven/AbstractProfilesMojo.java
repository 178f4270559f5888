// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.board.BoardProfiles;
import io.kiln.maven.session.MojoLog;
import java.io.File;
import java.nio.file.Path;
import org.apache.maven.plugins.annotations.Parameter;

/** Goals of packaging {@code board-profile}. */
abstract class AbstractProfilesMojo extends AbstractFlowMojo {
    /**
     * The folder of the profiles: one folder with a {@code board.yaml} for each.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.boardsDirectory", defaultValue = "${project.basedir}/src/main/boards")
    private File boardsDirectory;

    final BoardProfiles profiles() {
        return new BoardProfiles(boardsDirectory.toPath(), new MojoLog(getLog()));
    }

    final Path target() {
        return Path.of(project().getBuild().getDirectory());
    }
}
