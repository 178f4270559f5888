// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Log;
import io.kiln.compile.CallOptions;
import io.kiln.firmware.app.Application;
import io.kiln.flow.build.FirmwareSteps;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.resolve.ModelArchives;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.CompilerSpec;
import io.kiln.flow.spec.ImageSpec;
import io.kiln.flow.spec.VerifyOver;
import io.kiln.flow.state.FreshFolder;
import io.kiln.report.BuildReport;
import io.kiln.report.Json;
import io.kiln.report.ProfileReport;
import java.util.Optional;

/** Builds models for the graph executor once more with the executor that is generated ahead of time, and measures that image. */
final class AotComparison {
    private AotComparison() {}

    /** What an image with the ahead-of-time executor takes. */
    static Optional<ProfileReport.Aot> of(ResolvedBuild build) {
        BuildSpec spec = build.spec();
        boolean isComparable = spec.calls().executor() == ExecutorKind.GRAPH
                && spec.models().stream().noneMatch(model -> ModelArchives.accepts(model.file()))
                && !FirmwareSteps.hasOwnMain(
                        new FirmwareSteps(Log.QUIET, build).objects().project());
        return isComparable ? Optional.of(measured(build)) : Optional.empty();
    }

    private static ProfileReport.Aot measured(ResolvedBuild build) {
        Layout own = build.spec().layout();
        Layout layout = new Layout(own.project(), own.reports().resolve("aot"), own.base());
        CompilerSpec compiler = build.spec().compiler();
        ImageSpec image = build.spec().image();
        Io io = build.spec().calls().io();
        BuildSpec spec = build.spec()
                .with(layout)
                .with(compiler.with(compiler.options().with(CallOptions.TYPED.with(io))))
                .with(image.with(image.options().with(Application.CONSOLE))
                        .with(image.verify().with(VerifyOver.CONSOLE)));
        ResolvedBuild aot = build.with(spec, build.runsOn());
        try {
            new GenerateStep(Log.QUIET, aot).run();
            new FirmwareSteps(Log.QUIET, aot).link();
            new ProfileStep(Log.QUIET, aot).run();
            BuildReport report = Json.read(layout.reports().resolve(FirmwareSteps.REPORT), BuildReport.class);
            ProfileReport profile = Json.read(layout.reports().resolve(FirmwareSteps.PROFILE), ProfileReport.class);
            return new ProfileReport.Aot(
                    profile.instructions(), report.flash().total(), report.ram().total());
        } finally {
            FreshFolder.clear(layout.out());
        }
    }
}
