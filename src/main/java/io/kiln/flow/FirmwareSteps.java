// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.artifact.ModelMetadata.OperatorInfo;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.firmware.CompiledObjects;
import io.kiln.firmware.FirmwareAssembler;
import io.kiln.firmware.FirmwareCompiler;
import io.kiln.firmware.FirmwareLinker;
import io.kiln.firmware.FirmwareProject;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.Image;
import io.kiln.firmware.Measurement;
import io.kiln.flow.BuildSpec.Layout;
import io.kiln.report.BuildReport;
import io.kiln.report.Json;
import io.kiln.report.ProfileReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The firmware's part of the road: assemble, compile, link. Each step makes quietly up for what an earlier one has done. */
final class FirmwareSteps {
    /** What is known of the build, in the folder of reports. */
    static final String REPORT = "report.json";

    private final Log log;
    private final ResolvedBuild build;
    private final Layout layout;

    FirmwareSteps(Log log, ResolvedBuild build) {
        this.log = log;
        this.build = build;
        this.layout = build.spec().layout();
    }

    FirmwareProject assemble() {
        return FirmwareAssembler.assemble(request(), log);
    }

    CompiledObjects compile() {
        return FirmwareCompiler.compile(FirmwareAssembler.assemble(request(), Log.QUIET), log);
    }

    /** The objects as they stand; what changed since is compiled. */
    CompiledObjects objects() {
        return FirmwareCompiler.compile(FirmwareAssembler.assemble(request(), Log.QUIET), Log.QUIET);
    }

    /** Links, puts the archive beside the image and writes {@code report.json}. */
    Image link() {
        Image image = FirmwareLinker.link(objects(), layout.out(), layout.base(), log);
        copyArchive();
        Json.write(layout.reports().resolve(REPORT), withProfile(image, report(image.measurement())));
        return image;
    }

    /** Adds what {@code kiln:profile} has counted on this image; what it has counted on an earlier one counts no more. */
    private BuildReport withProfile(Image image, BuildReport report) {
        Path profile = layout.reports().resolve(ProfileStep.FILE);
        try {
            if (image.relinked()) {
                Files.deleteIfExists(profile);
            }
        } catch (IOException e) {
            throw FileFailure.of("cannot delete", profile, e);
        }
        return readable(profile).map(report::profiled).orElse(report);
    }

    /** One that a power failure or a hand has spoiled counts as none: kiln:profile writes it anew. */
    private static Optional<ProfileReport> readable(Path profile) {
        try {
            return Files.isRegularFile(profile)
                    ? Optional.of(Json.read(profile, ProfileReport.class))
                    : Optional.empty();
        } catch (KilnException e) {
            return Optional.empty();
        }
    }

    private void copyArchive() {
        Path archive = GenerateStep.archive(layout);
        try {
            WholeFiles.write(layout.archive(), Files.readAllBytes(archive));
        } catch (IOException e) {
            throw FileFailure.of("cannot read", archive, e);
        }
    }

    private BuildReport report(Measurement measured) {
        List<ModelMetadata> models = GenerateStep.store(layout).metadata();
        Measurement.Flash flash = measured.flash();
        Measurement.Ram ram = measured.ram();
        return new BuildReport(
                joined(build.spec().models().stream()
                        .map(model -> model.file().getFileName().toString())),
                joined(models.stream().map(ModelMetadata::name)),
                build.board().id(),
                build.toolchain().id() + ": " + build.toolchain().version(),
                models.get(0).target(),
                new BuildReport.Flash(
                        flash.text(),
                        flash.constants(),
                        flash.data(),
                        flash.total(),
                        flash.available().orElse(0)),
                new BuildReport.Ram(
                        ram.data(),
                        ram.bss(),
                        ram.state(),
                        ram.workspace(),
                        ram.io(),
                        ram.stack(),
                        ram.total(),
                        ram.available().orElse(0)),
                sum(models, OperatorInfo::macs),
                sum(models, OperatorInfo::executedMacs),
                BuildReport.operators(models),
                BuildReport.plan(models));
    }

    private static String joined(Stream<String> names) {
        return names.collect(Collectors.joining(", "));
    }

    private static long sum(List<ModelMetadata> models, ToLongFunction<OperatorInfo> part) {
        return models.stream()
                .flatMap(model -> model.operators().stream())
                .mapToLong(part)
                .sum();
    }

    /** Whether the image is the project's own program, which does not answer on the console. */
    static boolean hasOwnMain(FirmwareProject project) {
        return !project.hasDefaultApplication();
    }

    FirmwareRequest request() {
        return new FirmwareRequest(
                build.board(),
                build.toolchain(),
                build.optimize(),
                GenerateStep.store(layout).read(),
                Optional.of(layout.userSources()),
                layout.firmware(),
                objectFolder(),
                PluginVersion.text());
    }

    private Path objectFolder() {
        return layout.reports().resolve("objects");
    }
}
