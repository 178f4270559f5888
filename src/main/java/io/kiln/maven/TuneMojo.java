// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.base.ParameterValue;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.DeviceSpec.MeasuredOn;
import io.kiln.flow.spec.TuneSpec;
import io.kiln.flow.spec.TuneSpec.Limits;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.codehaus.plexus.configuration.PlexusConfiguration;

/**
 * Measures configurations of the models' layers in an emulator or on a board and keeps them as records in AutoTVM's format, which every later build follows
 * without measuring: {@code src/main/tuning/BOARD.log}, or {@code kiln.tune.records}. Writes {@code kiln/tune.json} and {@code kiln/tune.html}. A
 * search that was interrupted continues where it ended.
 *
 * @since 0.1.0
 */
@Mojo(name = "tune", requiresProject = false, threadSafe = true)
public final class TuneMojo extends AbstractBuildMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.tune.skip", defaultValue = "false")
    private boolean skipTune;

    /**
     * Which configurations are measured: {@code grid} (all), {@code random}, {@code ga} (genetic) or {@code xgb} (led by a model of the cost,
     * gradient-boosted trees).
     */
    @Parameter(property = "kiln.tune.tuner", defaultValue = "xgb")
    private String tuner;

    /**
     * Where configurations are measured: {@code emulator}, which counts instructions, or {@code board}, which is flashed with images of many
     * of them and measures time by its own timer.
     */
    @Parameter(property = "kiln.tune.on", defaultValue = "emulator")
    private String on;

    /** The most configurations of a layer that are measured, those of earlier searches included. */
    @Parameter(property = "kiln.tune.trials", defaultValue = "128")
    private int trials;

    /** A layer ends after this number of measurements without a better one; 0 for never. */
    @Parameter(property = "kiln.tune.earlyStopping", defaultValue = "0")
    private int earlyStopping;

    /** Seconds for which one image of candidates may run. */
    @Parameter(property = "kiln.tune.timeout", defaultValue = "120")
    private int imageTimeout;

    /** Seconds that the search may take in all, the comparison of the whole models included; 0 for no limit. */
    @Parameter(property = "kiln.tune.budget", defaultValue = "0")
    private int budget;

    /** Seed of random choices and of the data on which layers are measured. */
    @Parameter(property = "kiln.tune.seed", defaultValue = "0")
    private long seed;

    /** Logs whose records are added to the log before the search, separated by commas. */
    @Parameter(property = "kiln.tune.merge")
    private List<File> merge;

    /** Whether the log keeps only the best record of each layer in the end. With {@code kiln.tune.trials=0} nothing is measured before. */
    @Parameter(property = "kiln.tune.pickBest", defaultValue = "false")
    private boolean pickBest;

    /** A team's log, to which records that gain are proposed, with a summary. The project's own stays as it is. */
    @Parameter(property = "kiln.tune.propose")
    private File propose;

    /**
     * Flashing: elements {@code skip}, {@code runner}, {@code timeout}, {@code preverify}, {@code only}, {@code log}, {@code allowRpc}, or {@code
     * kiln.flash.NAME}.
     */
    @Parameter
    private PlexusConfiguration flash;

    /**
     * The probes: a serial number, {@code usb:BUS-PORT} or {@code tcp:HOST:PORT} (a server that speaks remote_bitbang),
     * several separated by commas, or {@code all}. If not set, the only one connected. Virtual boards may have any
     * name; {@code all} means those that were flashed before.
     */
    @Parameter(property = "kiln.probe")
    private String probe;

    /**
     * Faults to inject into virtual boards, to test how a CI set-up reacts to them: {@code [BOARD/]FAULT}, separated by
     * commas. Faults: {@code wrong-tap-id:ID}, {@code wrong-chip-id:ID}, {@code write-error:ADDRESS}, {@code
     * protected-sector:SECTOR}, {@code read-protected}, {@code flipped-bit:ADDRESS:BIT}, {@code dropped:BYTES}, {@code
     * silent:BYTES}, {@code power-lost:BYTES}, {@code slow:MILLISECONDS}. Refused for any other board.
     */
    @Parameter(property = "kiln.probe.faults")
    private String faults;

    /** OpenOCD: a path, or a name on the PATH. */
    @Parameter(property = "kiln.openocd", defaultValue = "openocd")
    private String openocd;

    /** The board's console: elements {@code port}, {@code serial} and {@code baud}, or properties {@code kiln.monitor.NAME}. */
    @Parameter
    private PlexusConfiguration monitor;

    /** Output folder, if this is no project of packaging {@code firmware}. */
    @Parameter(property = "kiln.outputDirectory", defaultValue = "kiln-out")
    private File outputDirectory;

    @Override
    boolean isGoalSkipped() {
        return skipTune;
    }

    @Override
    boolean isAboutOneModel() {
        return true;
    }

    @Override
    Layout layout(List<ModelSource> sources) {
        return byHand(outputDirectory, sources);
    }

    @Override
    void run() {
        List<Path> logs = new ArrayList<>();
        if (merge != null) {
            merge.forEach(file -> logs.add(file.toPath()));
        }
        Limits limits = new Limits(trials, earlyStopping, imageTimeout, budget);
        Optional<DeviceSpec> device = ParameterValue.of("kiln.tune.on", MeasuredOn.class, on) == MeasuredOn.BOARD
                ? Optional.of(device(flash, probe, openocd, faults, monitor))
                : Optional.empty();
        BuildSpec spec = spec();
        TuneSpec search = TuneSpec.of(tuner, tuneObjective(), limits, seed, logs, pickBest);
        flow().tune(spec, propose == null ? search : search.proposing(propose.toPath()), device);
    }
}
