// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.part;

import java.io.File;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Checks a folder of board profiles: every descriptor matches the schema, every file exists, and an empty application compiles
 * and links for every board.
 *
 * @since 0.1.0
 */
@Mojo(name = "check-boards", defaultPhase = LifecyclePhase.COMPILE, threadSafe = true)
public final class CheckBoardsMojo extends AbstractProfilesMojo {
    /**
     * Skips this goal.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.check-boards.skip", defaultValue = "false")
    private boolean skipCheckBoards;

    /**
     * Folder of unpacked toolchains and of objects of sources that many firmwares have, shared by all builds. If not set, the environment's {@code KILN_HOME}, or
     * {@code kiln} beside the local repository.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.home")
    private File home;

    @Override
    protected boolean isSkipped() {
        return skipCheckBoards;
    }

    @Override
    protected void work() {
        profiles().check(target().resolve("kiln").resolve("boards"), toolchains(home));
    }
}
