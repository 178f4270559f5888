// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.base.Failure;
import io.kiln.farm.desk.Labels.WorkerLabels;
import io.kiln.farm.worker.WorkerSetup.Identity;
import io.kiln.flow.spec.FarmUse;
import io.kiln.flow.spec.WorkerSpec;
import io.kiln.flow.spec.WorkerSpec.Device;
import io.kiln.flow.state.PluginVersion;
import io.kiln.flow.worker.WorkerStep;
import io.kiln.maven.artifact.ReactorFolders.BoardArtifacts;
import io.kiln.maven.group.Farm.WorkerCare;
import io.kiln.maven.group.GroupValues;
import io.kiln.maven.session.MojoLog;
import io.kiln.toolchain.board.Boards;
import java.io.File;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.codehaus.plexus.configuration.PlexusConfiguration;

/**
 * Offers this computer's emulators, and boards plugged into it, to the farm {@code kiln.farm}, until Ctrl-C. It runs images only in emulators and
 * on boards, with its own descriptions of them, and compiles nothing.
 *
 * @since 0.1.0
 */
@Mojo(name = "worker", requiresProject = false, threadSafe = true)
public final class WorkerMojo extends AbstractKilnMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.worker.skip", defaultValue = "false")
    private boolean skipWorker;

    /**
     * {@code group:artifact:version:id} of a board that a worker outside of a project offers; the boards of a project's dependencies are known by their
     * ids.
     */
    @Parameter(property = "kiln.board")
    private String board;

    /**
     * Boards from artifacts that may bring their own Tcl or emulator, which can run programs here: {@code group:artifact[:version[:id]]},
     * separated by commas. Others are refused.
     */
    @Parameter(property = "kiln.trustBoard", defaultValue = "")
    private String trustBoard;

    /** Labels by which builds choose: {@code room=3}, or {@code PROBE/desk=left} of one board. */
    @Parameter(property = "kiln.worker.labels", defaultValue = "")
    private String labels;

    /** The boards whose emulators are offered, separated by commas. If not set, all that QEMU emulates here. */
    @Parameter(property = "kiln.worker.emulators")
    private List<String> emulators;

    /** How many emulators run at once; 0 for none. If not set, one for each core of this computer. */
    @Parameter(property = "kiln.worker.slots", defaultValue = "-1")
    private int slots;

    /** The boards that are plugged in, separated by commas: each {@code BOARD=PROBE} with the probe's serial number, or a name for a virtual board. */
    @Parameter(property = "kiln.worker.boards")
    private List<String> boards;

    /** OpenOCD: a path, or a name on the PATH. */
    @Parameter(property = "kiln.openocd", defaultValue = "openocd")
    private String openocd;

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

    /** Who the worker is, and how it cares for jobs and boards: elements NAME of the properties {@code kiln.worker.NAME}. */
    @Parameter
    private PlexusConfiguration worker;

    @Override
    boolean isGoalSkipped() {
        return skipWorker;
    }

    @Override
    void run() {
        Boards seen = boardSources(
                        board == null ? BoardArtifacts.OF_DEPENDENCIES : new BoardArtifacts(board), trustBoard)
                .boards(projectLayout().userBoards());
        FarmUse use = farm(farm, home)
                .use()
                .orElseThrow(() -> Failure.FARM.exception(
                        "kiln.farm is not set", "kiln:worker", "the farm's address, such as tcp://localhost:61616"));
        GroupValues own = values(WorkerCare.GROUP, worker);
        List<Device> plugged = devices();
        WorkerLabels said = WorkerLabels.parse(
                "kiln.worker.labels",
                labels == null ? "" : labels,
                plugged.stream().map(Device::probe).collect(Collectors.toUnmodifiableSet()));
        WorkerSpec spec = new WorkerSpec(
                use.address(),
                new Identity(
                        WorkerCare.name(own)
                                .orElseGet(() -> hostName() + "-"
                                        + ProcessHandle.current().pid()),
                        PluginVersion.released(),
                        said.own()),
                emulators == null ? List.of() : emulators,
                slots < 0 ? Runtime.getRuntime().availableProcessors() : slots,
                plugged.stream().map(device -> device.labelled(said)).toList(),
                WorkerCare.care(own, openocd),
                homeFolder(home));
        new WorkerStep(new MojoLog(getLog()), seen, spec).run();
    }

    private List<Device> devices() {
        List<Device> devices = new ArrayList<>();
        for (String each : boards == null ? List.<String>of() : boards) {
            String[] words = each.strip().split("=", -1);
            if (words.length != 2 || words[0].isBlank() || words[1].isBlank()) {
                throw Failure.FARM.exception(
                        "not a board with its probe: `" + each + "`", "kiln.worker.boards", "BOARD=PROBE");
            }
            devices.add(new Device(words[0].strip(), words[1].strip()));
        }
        return devices;
    }

    private static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "worker";
        }
    }
}
