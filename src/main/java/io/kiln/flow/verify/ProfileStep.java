// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.compile.CallOptions;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.emulator.InstructionCounter;
import io.kiln.device.emulator.RunCounter;
import io.kiln.device.emulator.RunCounter.InstructionCounts;
import io.kiln.device.fault.StackUse;
import io.kiln.firmware.app.DefaultApplication.Application;
import io.kiln.flow.build.FirmwareSteps;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.build.GenerateStep.AudioInput;
import io.kiln.flow.build.RunnableImage;
import io.kiln.flow.farm.FarmRuns;
import io.kiln.flow.page.BuildPage;
import io.kiln.flow.resolve.ModelFiles.ModelArchives;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.VerifyOver;
import io.kiln.flow.spec.CompilerSpec;
import io.kiln.flow.spec.FarmUse;
import io.kiln.flow.spec.ImageSpec;
import io.kiln.report.BuildReport;
import io.kiln.report.CycleReport;
import io.kiln.report.CycleReport.BoardCycles;
import io.kiln.report.CycleReport.MemoryReport;
import io.kiln.report.Json;
import io.kiln.report.ProfileReport;
import io.kiln.report.ProfileReport.Preprocessing;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Counts the instructions of one inference with every input at its zero point, estimates their cycles, writes {@code profile.json} and
 * adds both to the build's report.
 */
public record ProfileStep(Log log, ResolvedBuild build) {
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final int SHOWN = 8;
    private static final int SHOWN_LOOPS = 3;
    private static final double PERCENT = 100;

    /** Counts, and logs the most expensive operators. */
    public void run() {
        RunnableImage image = RunnableImage.withDefaultApplication(log, build);
        if (FirmwareSteps.hasOwnMain(
                new FirmwareSteps(Log.QUIET, build).objects().project())) {
            log.info("Counted in the default application, not in the project's own program");
        }
        Emulator emulator = new Emulator(
                image.board(),
                LIMIT,
                Optional.of(build.spec().layout().reports().resolve("profile.log")),
                build.spec().semihosting());
        if (build.spec().farm().isEmpty()) {
            InstructionCounter counter = new InstructionCounter(emulator, Protocols.of(build, emulator.limit()));
            boolean takesAudio = build.spec().verify().over() == VerifyOver.CONSOLE;
            run(image, counter, emulator, "", takesAudio ? preprocessing(counter, image.file()) : List.of());
            return;
        }
        FarmVerification.requireConsole(build);
        FarmUse use = build.spec().farm().get();
        try (FarmRuns farm = FarmRuns.open(use, log)) {
            run(
                    image,
                    farm.runs(image.board(), LIMIT),
                    emulator,
                    " of the farm " + use.address().url(),
                    List.of());
        }
    }

    private void run(
            RunnableImage image,
            RunCounter counter,
            Emulator emulator,
            String where,
            List<Preprocessing> preprocessing) {
        Layout layout = build.spec().layout();
        ImageProfile profile = ImageProfile.of(
                build,
                counter,
                image.file(),
                layout.image("elf"),
                GenerateStep.store(layout).metadata());
        ProfileReport instructions = new ProfileReport(
                        build.board().id(),
                        RunnableImage.name(build, emulator) + where,
                        true,
                        profile.instructions(),
                        profile.operators())
                .with(preprocessing);
        ProfileReport counted = profile.cycles().map(instructions::with).orElse(instructions);
        ProfileReport report = aheadOfTime(build).map(counted::beside).orElse(counted);
        Json.write(layout.reports().resolve(FirmwareSteps.PROFILE), report);
        Path known = layout.reports().resolve(FirmwareSteps.REPORT);
        BuildReport built = Json.read(known, BuildReport.class).profiled(report);
        Json.write(known, built);
        BuildPage.write(layout);
        say(report);
        OptionalLong used =
                profile.stack() > 0 && !image.isOther() ? OptionalLong.of(profile.stack()) : OptionalLong.empty();
        FirmwareSteps.requireStack(log, layout, FirmwareSteps.ofBoard(layout, StackUse.of(image.file(), used)));
        if (report.aot() != null) {
            compare(report, built);
        }
    }

    /** Measures the signal processing before models. */
    private List<Preprocessing> preprocessing(InstructionCounter counter, Path image) {
        return AudioInput.ofAll(build.spec()).entrySet().stream()
                .map(each -> {
                    InterfaceNames names = new InterfaceNames(each.getKey());
                    Bytes silence = Bytes.wrap(new byte[2 * each.getValue().samples()]);
                    long one = counter.firstCall(image, names.audio(), names.nextRow(), List.of(silence));
                    return new Preprocessing(
                            each.getKey(), one, one * each.getValue().frames());
                })
                .toList();
    }

    private static String cycles(ProfileReport.Operator operator) {
        BoardCycles waited = operator.boardCycles();
        if (waited != null) {
            return String.format(
                    Locale.ROOT,
                    "%,14d cycles (%,d wait for code, %,d for constants)  ",
                    waited.expected(),
                    waited.fetchStalls(),
                    waited.dataStalls());
        }
        return operator.estimatedCycles() == null
                ? ""
                : String.format(
                        Locale.ROOT,
                        "%,14d cycles  ",
                        operator.estimatedCycles().expected());
    }

    private static String layers(ProfileReport.Operator operator) {
        return operator.layers().isEmpty() ? "" : "  (" + String.join(", ", operator.layers()) + ")";
    }

    private void compare(ProfileReport report, BuildReport built) {
        log.answer(String.format(
                Locale.ROOT,
                "With kiln.executor=aot: %,d instructions (%+,d), %,d bytes of flash (%+,d), %,d of RAM (%+,d)",
                report.aot().instructions(),
                report.aot().instructions() - report.instructions(),
                report.aot().flash(),
                report.aot().flash() - built.flash().total(),
                report.aot().ram(),
                report.aot().ram() - built.ram().total()));
    }

    private void say(MemoryReport memory) {
        log.answer(memory.text());
        memory.loops().stream()
                .limit(SHOWN_LOOPS)
                .forEach(loop -> log.answer("Does not fit in the cache: " + loop.text()));
        memory.changes().forEach(change -> log.answer("With " + change.text()));
    }

    private void say(ProfileReport report) {
        log.answer(String.format(
                Locale.ROOT, "One inference on %s: %,d instructions", report.ranOn(), report.instructions()));
        if (report.estimate() == null) {
            log.answer("Cycles are not estimated: " + ProfileCycles.NO_TIMINGS
                    + build.toolchain().cpu());
        } else {
            log.answer(report.estimate().text());
            MemoryReport memory = report.estimate().memory();
            if (memory != null
                    && memory.cycles().fetchStalls() + memory.cycles().dataStalls() > 0) {
                say(memory);
            }
        }
        report.preprocessing()
                .forEach(counted -> log.answer(String.format(
                        Locale.ROOT,
                        "Preprocessing of %s: %,d instructions for a row, %,d for its %d rows",
                        counted.model(),
                        counted.rowInstructions(),
                        counted.instructions(),
                        counted.instructions() / counted.rowInstructions())));
        report.operators().stream()
                .sorted(Comparator.comparingLong(ProfileReport.Operator::instructions)
                        .reversed())
                .limit(SHOWN)
                .forEach(operator -> log.answer(String.format(
                        Locale.ROOT,
                        "%,14d  %5.1f %%  %s%s%s",
                        operator.instructions(),
                        PERCENT * operator.instructions() / report.instructions(),
                        cycles(operator),
                        operator.name(),
                        layers(operator))));
    }

    /** What the models of the graph executor take if they are built once more with the executor that is generated ahead of time; empty for builds with that executor. */
    private static Optional<ProfileReport.Aot> aheadOfTime(ResolvedBuild build) {
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
            WholeFiles.clear(layout.out());
        }
    }

    /**
     * What an inference of an image's models costs, each with every input at its zero point.
     *
     * @param instructions of all models
     * @param stack the deepest use in bytes; 0 if it was not measured
     * @param operators of all models, in execution order
     * @param cycles estimated; empty if no timings are known of the core
     */
    public record ImageProfile(
            long instructions, long stack, List<ProfileReport.Operator> operators, Optional<CycleReport> cycles) {
        public ImageProfile {
            operators = List.copyOf(operators);
        }

        /** Counts in an emulator of this computer, without the range of cycles. */
        public static ImageProfile brief(
                ResolvedBuild build, Emulator emulator, Path image, Path boardImage, List<ModelMetadata> models) {
            InstructionCounter counter = new InstructionCounter(emulator, Protocols.of(build, emulator.limit()));
            return of(build, counter, image, boardImage, models, true);
        }

        /**
         * Counts in emulators.
         *
         * @param image the image that runs, with the default application
         * @param boardImage the board's own, linked from the same objects
         * @param models those in the image
         */
        static ImageProfile of(
                ResolvedBuild build, RunCounter counter, Path image, Path boardImage, List<ModelMetadata> models) {
            return of(build, counter, image, boardImage, models, false);
        }

        private static ImageProfile of(
                ResolvedBuild build,
                RunCounter counter,
                Path image,
                Path boardImage,
                List<ModelMetadata> models,
                boolean isBrief) {
            long total = 0;
            long stack = 0;
            List<ProfileReport.Operator> operators = new ArrayList<>();
            ProfileCycles cycles = new ProfileCycles(build, counter, image, boardImage, isBrief);
            for (ModelMetadata model : models) {
                InstructionCounts counts = counter.count(
                        image,
                        model.name(),
                        model.operators().stream().map(OperatorInfo::name).toList(),
                        TestCases.zero(model.inputs()).inputs());
                total += counts.total();
                stack = Math.max(stack, counts.stackUsed().orElse(0));
                List<ProfileReport.Operator> counted = model.operators().stream()
                        .map(operator -> new ProfileReport.Operator(
                                operator.name(),
                                operator.layers(),
                                counts.operators().get(operator.name())))
                        .toList();
                operators.addAll(cycles.estimated(model, counts, counted));
            }
            return new ImageProfile(total, stack, operators, cycles.report());
        }

        /** Cycles with the waits of the board's memories if they are known, or else without; empty if nothing tells them. */
        public Optional<Long> cyclesExpected() {
            return cycles.map(report -> report.memory() == null
                    ? report.cycles().expected()
                    : report.memory().cycles().expected());
        }
    }
}
