// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmMessage.FarmOrder;
import io.kiln.farm.watch.StatusServer;
import io.kiln.flow.spec.FarmUse;
import io.kiln.flow.worker.FarmStep;
import io.kiln.flow.worker.FarmStep.Serving;
import io.kiln.maven.group.Farm;
import io.kiln.maven.session.MojoLog;
import java.io.File;
import java.nio.file.Path;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.codehaus.plexus.configuration.PlexusConfiguration;

/**
 * With {@code kiln.farm}, shows what that farm does: its workers, boards, queues, jobs and failures; writes {@code kiln/farm.json} and {@code
 * kiln/farm.html}. Without it, starts a farm's broker, which runs until Ctrl-C and keeps the page up to date.
 *
 * @since 0.1.0
 */
@Mojo(name = "farm", requiresProject = false, threadSafe = true)
public final class FarmMojo extends AbstractKilnMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.farm.skip", defaultValue = "false")
    private boolean skipFarm;

    /** Folder of the build, if there is no project of packaging {@code firmware}. */
    @Parameter(property = "kiln.outputDirectory", defaultValue = "kiln-out")
    private File outputDirectory;

    /**
     * Where the broker listens, or {@code amqps://HOST:PORT} of a broker of your own. Other computers reach it only by {@code tls://HOST:PORT}, which needs {@code kiln.farm.keyStore} and either {@code
     * kiln.farm.trustStore} or {@code kiln.farm.password}.
     */
    @Parameter(property = "kiln.farm.listen", defaultValue = "tcp://localhost:61616")
    private String listen;

    /** Folder of the broker's queues, which outlive it. If not set, {@code farm} in {@code kiln.home}. */
    @Parameter(property = "kiln.farm.folder")
    private File farmFolder;

    /** Seconds after which the page about the farm is written again. */
    @Parameter(property = "kiln.farm.refresh", defaultValue = "5")
    private int refresh;

    /** Where programs read figures and health: {@code http://localhost:PORT} or {@code https://HOST:PORT}. If not set, nowhere. */
    @Parameter(property = "kiln.farm.status")
    private String status;

    /** With {@code kiln.farm}: a worker, or {@code WORKER/PROBE}, that gets no more jobs. */
    @Parameter(property = "kiln.farm.hold")
    private String hold;

    /** With {@code kiln.farm}: a worker, or {@code WORKER/PROBE}, that gets jobs again. */
    @Parameter(property = "kiln.farm.release")
    private String release;

    /**
     * Folder of compilers and objects that builds share. If not set, {@code KILN_HOME}, or {@code kiln} beside the local repository.
     */
    @Parameter(property = "kiln.home")
    private File home;

    /**
     * The farm: elements NAME of the properties {@code kiln.farm.NAME}; {@code address} is {@code kiln.farm}.
     */
    @Parameter
    private PlexusConfiguration farm;

    @Override
    boolean isGoalSkipped() {
        return skipFarm;
    }

    @Override
    void run() {
        FarmStep step =
                new FarmStep(new MojoLog(getLog()), lastBuild(outputDirectory).reports());
        Farm member = farm(farm, home);
        Optional<FarmUse> use = member.use();
        if (use.isPresent()) {
            boolean isHold = hold != null;
            FarmOrder order = isHold ? FarmOrder.HOLD : release != null ? FarmOrder.RELEASE : FarmOrder.STATE;
            step.show(use.get().address(), order, isHold ? hold : release != null ? release : "");
            return;
        }
        FarmAddress address = member.address(listen);
        Path folder = farmFolder == null ? homeFolder(home).resolve("farm") : farmFolder.toPath();
        step.serve(new Serving(
                address, folder, refresh, Optional.ofNullable(status).map(url -> StatusServer.address(url, address))));
    }
}
