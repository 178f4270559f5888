// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.artifact.Convention;
import io.kiln.artifact.LinkPlan;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problems;
import io.kiln.base.WholeFiles;
import io.kiln.device.fault.StackUse;
import io.kiln.executor.PlannedModule.PackedOptions;
import io.kiln.firmware.CompiledObjects;
import io.kiln.firmware.FirmwareAssembler;
import io.kiln.firmware.FirmwareCompiler;
import io.kiln.firmware.FirmwareLinker;
import io.kiln.firmware.FirmwareLinker.Demands;
import io.kiln.firmware.FirmwareProject;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.FirmwareRequest.ExtraCode;
import io.kiln.firmware.SourceUnit;
import io.kiln.firmware.StaticLibrary;
import io.kiln.firmware.image.ImageFiles.Image;
import io.kiln.firmware.image.Measurement;
import io.kiln.firmware.update.McubootImage;
import io.kiln.firmware.update.ModelRegion.DeviceModels.UpdateFile;
import io.kiln.firmware.update.SlottedFirmware;
import io.kiln.flow.build.GenerateStep.AudioInput;
import io.kiln.flow.build.ImagePapers.SourceLicences;
import io.kiln.flow.diff.DiffStep.LastBuild;
import io.kiln.flow.page.BuildPage;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.ImageSpec;
import io.kiln.flow.spec.UpdateSpec;
import io.kiln.flow.state.PluginVersion;
import io.kiln.flow.state.UpToDate.VerifyRecord;
import io.kiln.report.BuildReport;
import io.kiln.report.BuildReport.ImageReport;
import io.kiln.report.BuildReport.ImageReport.Licence;
import io.kiln.report.BuildReport.ModelPart;
import io.kiln.report.Json;
import io.kiln.report.ProfileReport;
import io.kiln.tuning.fit.FitSearch.FitLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The firmware steps: assemble, compile, link. Each step runs earlier steps that are out of date, without logging them. */
public final class FirmwareSteps {
    /** The build's report, in the folder of reports. */
    public static final String REPORT = "report.json";

    /** The result of {@code kiln:profile}, in the folder of reports. */
    public static final String PROFILE = "profile.json";

    private final Log log;
    private final ResolvedBuild build;
    private final Layout layout;
    private final UpdateFiles updates;

    public FirmwareSteps(Log log, ResolvedBuild build) {
        this.log = log;
        this.build = build;
        this.layout = build.spec().layout();
        this.updates = new UpdateFiles(build.spec());
    }

    public FirmwareProject assemble() {
        return FirmwareAssembler.assemble(request(), log);
    }

    public CompiledObjects compile() {
        return FirmwareCompiler.compile(FirmwareAssembler.assemble(request(), Log.QUIET), log);
    }

    /** Compiles what has changed and returns all objects. */
    public CompiledObjects objects() {
        return FirmwareCompiler.compile(FirmwareAssembler.assemble(request(), Log.QUIET), Log.QUIET);
    }

    /** Links, copies the archive next to the image and writes {@code report.json} and the page. */
    public Image link() {
        CompiledObjects objects = objects();
        Image image = FirmwareLinker.link(
                objects,
                layout.out(),
                layout.base(),
                log,
                new Demands(measurement -> new Savings(build, measurement).text(), this::requireLimits));
        if (image.relinked()) {
            LastBuild.keep(layout);
            VerifyRecord.removeReports(layout);
        }
        copyArchive();
        library(objects);
        updates.write(image).ifPresent(log::info);
        new ImagePapers(build, objects.project()).write();
        Json.write(layout.reports().resolve(REPORT), withProfile(image, withStack(image, report(image.measurement()))));
        BuildPage.write(layout);
        if (image.relinked()) {
            LastBuild.line(layout).ifPresent(log::info);
            log.info("Report: " + BuildPage.file(layout));
        }
        return image;
    }

    /** Makes the static library, if one is asked for. */
    private void library(CompiledObjects objects) {
        Path folder = layout.out().resolve("library");
        if (build.spec().image().code().own().isLibrary()) {
            WholeFiles.clear(folder);
            log.info(new StaticLibrary(objects, layout.base(), PluginVersion.released()).write(folder));
        }
    }

    /** Refuses an image that takes more memory than the build's limits allow. */
    private void requireLimits(Measurement measured) {
        FitLimits limits = build.spec().compiler().fit().limits();
        Problems problems = new Problems(Failure.MEMORY);
        limit(problems, "flash", measured.flash().total(), limits.flash());
        limit(problems, "RAM", measured.ram().total(), limits.ram());
        problems.throwIfAny();
    }

    private void limit(Problems problems, String memory, long used, OptionalLong limit) {
        if (used > limit.orElse(Long.MAX_VALUE)) {
            problems.add(
                    String.format(Locale.ROOT, "the image takes %,d bytes of %s", used, memory),
                    "board " + build.board().id(),
                    String.format(
                            Locale.ROOT,
                            "at most %,d: kiln.limit.%s",
                            limit.getAsLong(),
                            memory.toLowerCase(Locale.ROOT)),
                    "Build with -Dkiln.optimize=fit, the fastest image within the limits, or raise the limit");
        }
    }

    /** Keeps what was measured of the stack of this image. */
    private BuildReport withStack(Image image, BuildReport report) {
        Path last = layout.reports().resolve(REPORT);
        Optional<Long> used = image.relinked()
                ? Optional.empty()
                : BuildPage.read(last, BuildReport.class)
                        .map(known -> known.stack().used());
        return used.map(bytes -> report.with(report.stack().with(bytes))).orElse(report);
    }

    /** The deepest use in a run, of the stack that the board's image has: a stand-in's may be larger. */
    public static Optional<StackUse> ofBoard(Layout layout, Optional<StackUse> use) {
        Optional<Long> available = BuildPage.read(layout.reports().resolve(REPORT), BuildReport.class)
                .map(known -> known.stack().available())
                .filter(bytes -> bytes > 0);
        return use.map(stack -> new StackUse(stack.used(), available.orElse(stack.available())));
    }

    /**
     * Logs the deepest use of the stack in a run if no earlier run went as deep, and records it in the report of the image.
     *
     * @param use what was measured, if anything; see {@link #ofBoard}
     */
    public static void recordStack(Log log, Layout layout, Optional<StackUse> use) {
        use.ifPresent(stack -> {
            Path file = layout.reports().resolve(REPORT);
            Optional<BuildReport> report = BuildPage.read(file, BuildReport.class);
            boolean isTold = report.map(known -> known.stack().used())
                    .filter(deepest -> deepest >= stack.used())
                    .isPresent();
            if (!isTold) {
                log.info(stack.text());
            }
            report.ifPresent(known -> {
                Json.write(file, known.with(known.stack().with(stack.used())));
                BuildPage.write(layout);
            });
        });
    }

    /**
     * Logs and records the use of the stack as {@link #recordStack} does, for a run that nothing else fails.
     *
     * @throws KilnException if the stack overflowed
     */
    public static void requireStack(Log log, Layout layout, Optional<StackUse> use) {
        recordStack(log, layout, use);
        use.flatMap(StackUse::problem).ifPresent(problem -> {
            throw new KilnException(problem);
        });
    }

    /** Adds the counts of {@code kiln:profile} if they are of this image. */
    private BuildReport withProfile(Image image, BuildReport report) {
        Path profile = layout.reports().resolve(PROFILE);
        if (image.relinked()) {
            WholeFiles.delete(profile);
        }
        return BuildPage.read(profile, ProfileReport.class)
                .map(report::profiled)
                .orElse(report);
    }

    /** A profile; empty for a damaged file, because kiln:profile writes it again. */
    public static Optional<ProfileReport> readable(Path profile) {
        return BuildPage.read(profile, ProfileReport.class);
    }

    /**
     * Checks that the existing image belongs to this build: another build may have linked in the same folder since.
     *
     * @throws KilnException if there is no image, or it was linked from other inputs
     */
    void requireLinked(CompiledObjects objects) {
        Path elf = layout.image("elf");
        Optional<String> change = Files.isRegularFile(elf)
                ? FirmwareLinker.changedInput(objects, layout.out(), layout.base())
                : Optional.of("it has not been linked yet");
        change.ifPresent(why -> {
            throw Failure.PROJECT.exception(
                    "the image belongs to another build: " + why,
                    elf.toString(),
                    "kiln:link before this goal, with the same parameters",
                    "Run the whole lifecycle, for example mvn verify, with no other build in this folder at"
                            + " the same time");
        });
    }

    /** Checks the image as {@link #requireLinked} does, but accepts one that this build did not link. */
    public void requireLinkedIfBuiltHere() {
        if (build.board().projectApi().isEmpty() && GenerateStep.store(layout).exists()) {
            requireLinked(objects());
        }
    }

    private void copyArchive() {
        Path archive = GenerateStep.archive(layout);
        WholeFiles.copy(archive, layout.archive());
    }

    private BuildReport report(Measurement measured) {
        List<ModelLibrary> libraries = GenerateStep.store(layout).read();
        List<ModelMetadata> models =
                libraries.stream().map(ModelLibrary::metadata).toList();
        CompiledObjects objects = objects();
        return new BuildReport(
                applicationName(),
                joined(build.spec().models().stream()
                        .map(model -> model.file().getFileName().toString())),
                joined(models.stream().map(ModelMetadata::name)),
                build.board().id(),
                build.toolchain().id() + ": " + build.toolchain().version(),
                models.get(0).target(),
                calls(models.get(0).api().convention()),
                MemoryReports.flash(measured),
                MemoryReports.ram(measured),
                new BuildReport.Stack(
                        null, StackUse.available(layout.image("elf")).orElse(0)),
                MemoryReports.memories(measured),
                sum(models, OperatorInfo::macs),
                sum(models, OperatorInfo::executedMacs),
                BuildReport.operators(models),
                BuildReport.plan(models),
                LinkPlan.of(libraries.stream().map(ModelLibrary::artifacts).toList())
                        .groups(),
                ModelPart.of(models, build.spec().velaRuns()),
                imageReport(measured, objects.project()),
                AudioInput.costs(build, objects),
                null,
                null);
    }

    private String applicationName() {
        boolean isOwn = hasOwnMain(FirmwareAssembler.assemble(request(), Log.QUIET));
        return isOwn ? BuildReport.OWN_APPLICATION : build.spec().application().text();
    }

    /** How programs call the models. C that came in an archive has an interface of its own, and nothing is known of its checks. */
    private BuildReport.Calls calls(Convention convention) {
        PackedOptions asked = build.spec().calls().packed();
        return new BuildReport.Calls(
                convention.interfaceApi(), convention.unpackedApi(), asked.systemLibrary(), !asked.checked());
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

    /** Whether the image is the project's own program, which does not answer the host. */
    public static boolean hasOwnMain(FirmwareProject project) {
        return !project.hasDefaultApplication();
    }

    /**
     * The inputs of the firmware.
     *
     * @throws KilnException if the generated code belongs to another build
     */
    FirmwareRequest request() {
        new GenerateStep(Log.QUIET, build).requireCurrent();
        return request(
                GenerateStep.store(layout).read(), new FirmwareRequest.Folders(layout.firmware(), objectFolder()));
    }

    /** The inputs of a firmware with other models, in other folders. */
    public FirmwareRequest request(List<ModelLibrary> models, FirmwareRequest.Folders folders) {
        ImageSpec image = build.spec().image();
        FirmwareRequest plain = new FirmwareRequest(
                build.board(),
                build.toolchain(),
                build.spec().optimize(),
                new FirmwareRequest.Content(
                        models,
                        image.code().of(layout, build.board()),
                        image.options(),
                        CmsisNnSources.of(build.spec().codegens(), models),
                        ExtraCode.NONE),
                folders,
                PluginVersion.text());
        return updates.with(plain);
    }

    private Path objectFolder() {
        return layout.reports().resolve("objects");
    }

    /** The sections and symbols of an image, and the licences of the sources that it was compiled from. */
    private static ImageReport imageReport(Measurement measured, FirmwareProject project) {
        return new ImageReport(
                measured.sections().stream()
                        .map(s -> new ImageReport.Section(s.name(), s.memory(), s.address(), s.bytes()))
                        .toList(),
                measured.largest().stream()
                        .map(item -> new ImageReport.Symbol(item.name(), item.bytes(), item.writable()))
                        .toList(),
                licences(project));
    }

    private static List<Licence> licences(FirmwareProject project) {
        Map<String, Map<String, Integer>> files = new TreeMap<>();
        for (SourceUnit unit : project.units()) {
            String part = unit.path().replaceFirst("/.*", "");
            files.computeIfAbsent(part, name -> new TreeMap<>())
                    .merge(SourceLicences.of(project.directory().resolve(unit.path())), 1, Integer::sum);
        }
        List<Licence> licences = new ArrayList<>();
        files.forEach(
                (part, found) -> found.forEach((licence, count) -> licences.add(new Licence(part, licence, count))));
        return licences;
    }

    /** Puts models into slots if a build wants that, and writes the files that update devices in the field. */
    private static final class UpdateFiles {
        private final BuildSpec.Layout layout;
        private final UpdateSpec spec;
        private Optional<UpdateFile> update = Optional.empty();

        UpdateFiles(BuildSpec build) {
            this.layout = build.layout();
            this.spec = build.update();
        }

        /** The firmware, with its models in slots if the build wants that. */
        FirmwareRequest with(FirmwareRequest plain) {
            if (!spec.hasSlots()) {
                return plain;
            }
            SlottedFirmware slotted =
                    SlottedFirmware.of(plain, spec.slots(), layout.reports().resolve("slots"));
            update = Optional.of(slotted.update());
            return slotted.request();
        }

        /**
         * Writes the update ({@link UpdateSpec#file}) and {@code <base>.mcuboot.bin}, or removes those of an earlier build.
         *
         * @return a line that says what was written
         */
        Optional<String> write(Image image) {
            Path whole = layout.image("mcuboot.bin");
            try {
                Files.deleteIfExists(whole);
                deleteEarlier();
                if (spec.isForMcuboot()) {
                    WholeFiles.write(whole, mcuboot(image).toArray());
                }
            } catch (IOException e) {
                throw FileFailure.of("cannot write", whole, e);
            }
            return update.map(file -> {
                Path models = spec.file(layout);
                WholeFiles.write(models, file.bytes().toArray());
                return "Models in version " + file.regions().get(0).version() + " for the field: " + models;
            });
        }

        private void deleteEarlier() throws IOException {
            try (Stream<Path> files = Files.list(layout.out())) {
                for (Path file :
                        files.filter(each -> UpdateSpec.isFile(layout, each)).toList()) {
                    Files.delete(file);
                }
            }
        }

        private Bytes mcuboot(Image image) throws IOException {
            Path binary = image.bin()
                    .orElseThrow(() -> Failure.UPDATE.exception(
                            "MCUboot's header goes before a flat binary, and this image has none",
                            "kiln.imageHeader",
                            "a board whose memories lie close together"));
            return McubootImage.of(Bytes.wrap(Files.readAllBytes(binary)), spec.firmware(), spec.signer())
                    .bytes();
        }
    }

    /** A measured image in the form that reports use. */
    public static final class MemoryReports {
        private MemoryReports() {}

        /** Use of read-only memory. */
        public static BuildReport.Flash flash(Measurement measured) {
            Measurement.Flash flash = measured.flash();
            return new BuildReport.Flash(
                    flash.text(),
                    flash.constants(),
                    flash.data(),
                    flash.total(),
                    flash.available().orElse(0));
        }

        /** Use of writable memory. */
        public static BuildReport.Ram ram(Measurement measured) {
            Measurement.Ram ram = measured.ram();
            return new BuildReport.Ram(
                    ram.data(),
                    ram.bss(),
                    ram.state(),
                    ram.workspace(),
                    ram.io(),
                    ram.stack(),
                    ram.total(),
                    ram.available().orElse(0));
        }

        /** Use of each memory of the board. */
        public static List<BuildReport.MemoryUse> memories(Measurement measured) {
            return measured.regions().stream()
                    .map(region -> new BuildReport.MemoryUse(
                            region.name(), region.used(), region.available(), region.targets()))
                    .toList();
        }
    }
}
