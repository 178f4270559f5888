// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.farm.link.FarmAddress;
import io.kiln.flow.spec.FarmUse;
import io.kiln.flow.worker.FarmStep;
import io.kiln.maven.session.MojoLog;
import java.io.File;
import java.nio.file.Path;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * With {@code kiln.farm}, shows what that farm does: its workers, boards, queues, jobs and failures; writes {@code kiln/farm.json} and {@code
 * kiln/farm.html}. Without it, starts a farm's broker, which runs until Ctrl-C and keeps the page up to date.
 *
 * @since 0.1.0
 */
@Mojo(name = "farm", requiresProject = false, threadSafe = true)
public final class FarmMojo extends AbstractFarmMojo {
    /**
     * Skips this goal.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.farm.skip", defaultValue = "false")
    private boolean skipFarm;

    /**
     * Folder of the build, if there is no project of packaging {@code firmware}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.outputDirectory", defaultValue = "kiln-out")
    private File outputDirectory;

    /**
     * Where the broker listens. Other computers reach it only by {@code tls://HOST:PORT}, which needs {@code kiln.farm.keyStore} and either {@code
     * kiln.farm.trustStore} or {@code kiln.farm.password}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.farm.listen", defaultValue = "tcp://localhost:61616")
    private String listen;

    /**
     * Folder of the broker's queues, which outlive it. If not set, {@code farm} in {@code kiln.home}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.farm.folder")
    private File farmFolder;

    /**
     * Seconds after which the page about the farm is written again.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.farm.refresh", defaultValue = "5")
    private int refresh;

    @Override
    boolean isGoalSkipped() {
        return skipFarm;
    }

    @Override
    void run() {
        FarmStep step =
                new FarmStep(new MojoLog(getLog()), lastBuild(outputDirectory).reports());
        Optional<FarmUse> farm = farmUse();
        if (farm.isPresent()) {
            step.show(farm.get().address());
            return;
        }
        FarmAddress address = farmAddress(listen);
        Path folder = farmFolder == null ? homeFolder().resolve("farm") : farmFolder.toPath();
        step.serve(address, folder, refresh);
    }
}
