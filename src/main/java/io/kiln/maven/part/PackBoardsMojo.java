// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.part;

import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Packs a folder of board profiles into the project's artifact: a reproducible zip with one folder per board at its root.
 *
 * @since 0.1.0
 */
@Mojo(name = "pack-boards", defaultPhase = LifecyclePhase.PACKAGE, threadSafe = true)
public final class PackBoardsMojo extends AbstractProfilesMojo {
    /**
     * Skips this goal.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.pack-boards.skip", defaultValue = "false")
    private boolean skipPackBoards;

    @Override
    protected boolean isSkipped() {
        return skipPackBoards;
    }

    @Override
    protected void work() {
        profiles().pack(artifact());
        publish(artifact());
    }
}
