// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.base.Log;
import io.kiln.flow.build.FirmwareSteps;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.CompilerSpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.state.UpToDate.VerifyRecord;
import io.kiln.flow.verify.ProfileStep;
import io.kiln.flow.verify.VerifyStep;
import io.kiln.report.BuildReport;
import io.kiln.report.CycleReport;
import io.kiln.report.Json;
import io.kiln.report.ProfileReport;
import io.kiln.report.TuneReport;
import io.kiln.tuning.task.Objective;
import io.kiln.tuning.task.Objective.Metric;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Builds the models of a build with some records, and measures the image. */
final class WholeModels {
    private final ResolvedBuild build;
    private final Path folder;
    private final boolean isOfBoard;
    private final VerifySpec cases;

    /** @param objective what is minimised: it says which cycles are meant */
    WholeModels(ResolvedBuild build, Path folder, Objective objective) {
        this(build, folder, objective, new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 1, 0));
    }

    /** @param cases with which images are verified */
    WholeModels(ResolvedBuild build, Path folder, Objective objective, VerifySpec cases) {
        this.cases = cases;
        this.isOfBoard = objective.metrics().contains(Metric.BOARD_CYCLES);
        this.build = build;
        this.folder = folder;
    }

    /**
     * A measured image.
     *
     * @param sizes its memory use
     * @param workspace planned bytes of all models
     * @param operators instructions, or estimated cycles, of each operator by its C name
     */
    record Image(TuneReport.Sizes sizes, long workspace, Map<String, Long> operators) {}

    /**
     * Measures an image.
     *
     * @param records a log; a file that does not exist leaves all layers to the rules
     * @param inCycles whether operators are compared by their cycles
     */
    Image measure(Path records, String name, boolean inCycles) {
        ResolvedBuild other = built(records, name);
        return measured(other, inCycles);
    }

    /**
     * Measures an image as {@link #measure} does, and requires that its answers are right.
     *
     * @throws io.kiln.base.KilnException if they are not
     */
    Image verified(Path records, String name, boolean inCycles) {
        ResolvedBuild other = built(records, name);
        VerifyRecord.keep(
                other.spec().layout(),
                Log.QUIET,
                "kiln:tune",
                record -> new VerifyStep(Log.QUIET, other, DeviceSpec.USUAL, record).run());
        return measured(other, inCycles);
    }

    private ResolvedBuild built(Path records, String name) {
        Layout own = build.spec().layout();
        Layout layout = new Layout(own.project(), folder.resolve(name), own.base());
        CompilerSpec compiler = build.spec().compiler();
        BuildSpec spec = build.spec()
                .with(layout)
                .with(compiler.with(compiler.records().with(records)))
                .with(build.spec().image().with(cases));
        ResolvedBuild other = build.with(spec, build.runsOn());
        new GenerateStep(Log.QUIET, other).run();
        new FirmwareSteps(Log.QUIET, other).link();
        return other;
    }

    private Image measured(ResolvedBuild other, boolean inCycles) {
        Layout layout = other.spec().layout();
        new ProfileStep(Log.QUIET, other).run();
        BuildReport report = Json.read(layout.reports().resolve(FirmwareSteps.REPORT), BuildReport.class);
        ProfileReport profile = Json.read(layout.reports().resolve(FirmwareSteps.PROFILE), ProfileReport.class);
        Map<String, Long> operators = new LinkedHashMap<>();
        report.operators()
                .forEach(operator ->
                        operators.put(operator.name(), inCycles ? cycles(operator) : operator.instructions()));
        return new Image(
                new TuneReport.Sizes(
                        profile.instructions(),
                        Optional.ofNullable(profile.estimate())
                                .map(this::cycles)
                                .orElse(null),
                        report.flash().total(),
                        report.ram().total()),
                report.plan().bytes(),
                operators);
    }

    private long cycles(CycleReport estimate) {
        return isOfBoard
                ? estimate.memory().cycles().expected()
                : estimate.cycles().expected();
    }

    private long cycles(BuildReport.Operator operator) {
        return isOfBoard
                ? operator.boardCycles().expected()
                : operator.estimatedCycles().expected();
    }
}
