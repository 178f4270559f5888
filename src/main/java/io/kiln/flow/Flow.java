// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.base.Failure;
import io.kiln.base.Log;
import io.kiln.base.Problems;
import io.kiln.firmware.image.ImageFiles.Image;
import io.kiln.flow.build.FirmwareSteps;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.build.VelaStep;
import io.kiln.flow.device.FlashStep;
import io.kiln.flow.device.ProjectStep;
import io.kiln.flow.export.LibraryExport;
import io.kiln.flow.export.SourceExport;
import io.kiln.flow.fit.FitStep;
import io.kiln.flow.inspect.DebugStep;
import io.kiln.flow.inspect.Inspector;
import io.kiln.flow.plan.PlanStep;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.resolve.Resolver;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.DeviceSpec.FlashSpec;
import io.kiln.flow.spec.ImageSpec.RunSpec;
import io.kiln.flow.spec.ImageSpec.TestSpec;
import io.kiln.flow.spec.ProjectSpec;
import io.kiln.flow.spec.TuneSpec;
import io.kiln.flow.state.UpToDate;
import io.kiln.flow.state.UpToDate.BuildLock;
import io.kiln.flow.state.UpToDate.VerifyRecord;
import io.kiln.flow.test.TestStep;
import io.kiln.flow.tune.TuneStep;
import io.kiln.flow.verify.BoardProfile;
import io.kiln.flow.verify.CompareLayersStep;
import io.kiln.flow.verify.CompareNpuStep;
import io.kiln.flow.verify.ProfileStep;
import io.kiln.flow.verify.RunStep;
import io.kiln.flow.verify.VerificationCases.TestVectors;
import io.kiln.flow.verify.VerifyStep;
import io.kiln.preprocess.media.MediaFolder;
import io.kiln.report.listing.InspectReport;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The work of the goals of a build: each method does what one goal asks for. Every method throws {@link io.kiln.base.KilnException}
 * for failures that the user can fix, with all problems at once.
 */
public final class Flow {
    /** Is told of the work in a build's folder, while no other build works there. By itself it lets nothing count as up to date. */
    public interface Watch {
        /** Work begins that may change the folder. */
        default void begins(Layout layout) {
            UpToDate.forget(layout);
        }

        /** The work has ended, and would do nothing if it ran again. */
        default void settled(Collection<ResolvedBuild> builds) {}
    }

    private final Log log;
    private final ToolchainEnvironment environment;
    private final Watch watch;

    /**
     * @param log gets one line for each step that ran or was skipped
     * @param environment where toolchains come from
     */
    public Flow(Log log, ToolchainEnvironment environment) {
        this(log, environment, new Watch() {});
    }

    /**
     * @param log gets one line for each step that ran or was skipped
     * @param environment where toolchains come from
     * @param watch is told when work begins and when nothing is left of it
     */
    public Flow(Log log, ToolchainEnvironment environment, Watch watch) {
        this.log = log;
        this.environment = environment;
        this.watch = watch;
    }

    /** Checks that board, toolchain and models exist and fit together, and the files that later goals read. */
    public void resolve(BuildSpec spec) {
        log(withFiles(spec, new Resolver(environment)::resolve));
    }

    /** A build together with the keys of its files, so that mistakes in both are told at once, before anything is built. */
    private static ResolvedBuild withFiles(BuildSpec spec, Function<BuildSpec, ResolvedBuild> resolver) {
        Problems problems = new Problems(Failure.CONFIG);
        Optional<ResolvedBuild> build = problems.read(() -> resolver.apply(spec));
        TestStep.check(spec.layout(), problems);
        Stream.of(spec.quantize().samples(), spec.verify().vectors())
                .flatMap(Optional::stream)
                .distinct()
                .forEach(folder -> problems.collect(new MediaFolder(folder, Optional.empty())::check));
        problems.throwIfAny();
        return build.orElseThrow();
    }

    /** Checks a build as {@link #resolve} does, before its other plugins have run: missing files, which a plugin may still create, are logged. */
    public void resolveAhead(BuildSpec spec) {
        Resolver resolver = new Resolver(environment);
        ResolvedBuild build = withFiles(spec, resolver::resolveAhead);
        resolver.missing()
                .list()
                .forEach(problem -> log.info("Missing so far; kiln:generate checks again: "
                        + (problem.where().isEmpty() ? problem.expected() : problem.where())));
        log(build);
    }

    private void log(ResolvedBuild build) {
        log.info("Board " + build.board().id() + ", toolchain "
                + build.toolchain().title());
    }

    /**
     * Compiles the models to C and an archive.
     *
     * @param isVerified whether the image will be verified, so that vectors which do not fit the models are told now
     */
    public void generate(BuildSpec spec, boolean isVerified) {
        settle(spec, "kiln:generate", build -> {
            new GenerateStep(log, build).run();
            if (isVerified) {
                checkVectors(build);
            }
        });
    }

    /** Compiles the models as {@link #generate(BuildSpec, boolean)} does, for an image that will be verified. */
    public void generate(BuildSpec spec) {
        generate(spec, true);
    }

    private static void checkVectors(ResolvedBuild build) {
        TestVectors.check(
                build.spec(), GenerateStep.store(build.spec().layout()).metadata());
    }

    /** Writes the C project. */
    public void assemble(BuildSpec spec) {
        settle(spec, "kiln:assemble", build -> new FirmwareSteps(log, build).assemble());
    }

    /** Compiles the C that changed. */
    public void compile(BuildSpec spec) {
        settle(spec, "kiln:compile", build -> new FirmwareSteps(log, build).compile());
    }

    /** Links the image, checks that it fits the board and writes {@code report.json}. */
    public void link(BuildSpec spec) {
        link(spec, build -> {});
    }

    /**
     * Links as {@link #link(BuildSpec)} does.
     *
     * @param demands checks the image; nothing is up to date unless it passes
     */
    public void link(BuildSpec spec, Consumer<ResolvedBuild> demands) {
        settle(spec, "kiln:link", build -> {
            new FirmwareSteps(log, build).link();
            demands.accept(build);
        });
    }

    private void settle(BuildSpec spec, String goal, Consumer<ResolvedBuild> work) {
        ResolvedBuild build = resolved(spec);
        alone(spec, goal, () -> {
            work.accept(build);
            watch.settled(List.of(build));
        });
    }

    /** Works while no other build does in the folder. */
    private void alone(BuildSpec spec, String goal, Runnable work) {
        BuildLock.hold(log, spec.layout(), goal, () -> {
            watch.begins(spec.layout());
            work.run();
        });
    }

    /** Verifies as {@link VerifyRecord#keep} does. */
    public void recorded(Layout layout, String goal, Consumer<VerifyRecord> verification) {
        VerifyRecord.keep(layout, log, goal, () -> watch.begins(layout), verification);
    }

    /**
     * Verifies that the image computes what the model says.
     *
     * @param device how to reach the board, for verification on hardware
     */
    public void verify(BuildSpec spec, DeviceSpec device) {
        recorded(spec.layout(), "kiln:verify", record -> verify(spec, device, record));
    }

    /** Verifies as {@link #verify(BuildSpec, DeviceSpec)} does, inside {@link #recorded}, which also records failures of the caller. */
    public void verify(BuildSpec spec, DeviceSpec device, VerifyRecord record) {
        verify(spec, device, record, build -> {});
    }

    /**
     * Verifies as {@link #verify(BuildSpec, DeviceSpec, VerifyRecord)} does.
     *
     * @param demands checks the verified image, as for {@link #link(BuildSpec, Consumer)}
     */
    public void verify(BuildSpec spec, DeviceSpec device, VerifyRecord record, Consumer<ResolvedBuild> demands) {
        ResolvedBuild build = resolved(spec);
        new VerifyStep(log, build, device, record).run();
        demands.accept(build);
        if (spec.verify().on() == VerifyOn.EMULATOR
                && build.runsOn().isPresent()
                && spec.farm().isEmpty()) {
            watch.settled(List.of(build));
        }
    }

    /**
     * Runs all steps from model to verified image. Parameters as for {@link #verify(BuildSpec, DeviceSpec)}; a failure on the way
     * is recorded as a failed verification.
     */
    public void build(BuildSpec spec, DeviceSpec device) {
        recorded(spec.layout(), "kiln:build", record -> build(spec, device, record));
    }

    /** Builds as {@link #build(BuildSpec, DeviceSpec)} does, inside {@link #recorded}, which also records failures of the caller. */
    public void build(BuildSpec spec, DeviceSpec device, VerifyRecord record) {
        if (spec.verify().on() == VerifyOn.NONE) {
            record.leave();
        }
        ResolvedBuild build = resolved(spec);
        if (linked(build, () -> checkVectors(build)).relinked()) {
            record.forget();
        }
        new VerifyStep(log, build, device, record).run();
    }

    /**
     * Verifies the models on many boards.
     *
     * @param spec the build, of which others are made for the boards
     * @param plan which models on which boards
     */
    public void plan(BuildSpec spec, DeviceSpec device, Path plan) {
        new PlanStep(log, spec, (cellLog, cell) -> new Flow(cellLog, environment).build(cell, device)).run(plan);
    }

    /** Builds what is out of date, boots the image and shows its console or its answers. */
    public void run(BuildSpec spec, RunSpec run) {
        alone(spec, "kiln:run", () -> new RunStep(log, imageOnce(spec), run).run());
    }

    /** Builds what is out of date and counts the instructions of one inference in an emulator. */
    public void profile(BuildSpec spec) {
        ResolvedBuild build = resolved(spec);
        alone(spec, "kiln:profile", () -> profile(build));
    }

    /** Counts as {@link #profile(BuildSpec)} does, and measures the front of all images of the models. */
    public void front(BuildSpec spec) {
        ResolvedBuild build = resolved(spec);
        alone(spec, "kiln:profile", () -> {
            profile(build);
            new FitStep(log, build).front();
        });
    }

    /** Counts as {@link #profile(BuildSpec)} does, where no other build works anyway. */
    public void profile(ResolvedBuild build) {
        new ProfileStep(log, image(build)).run();
    }

    /**
     * Measures configurations of the models' layers and records the best, which later builds follow.
     *
     * @param device the board that measures; empty for an emulator
     */
    public void tune(BuildSpec spec, TuneSpec tune, Optional<DeviceSpec> device) {
        TuneStep step = new TuneStep(log, resolved(spec), tune, device);
        alone(spec, "kiln:tune", step::run);
    }

    /** Builds what is out of date and measures an inference on the board. */
    public void profile(BuildSpec spec, DeviceSpec device) {
        ResolvedBuild build = resolved(spec);
        alone(spec, "kiln:profile", () -> new BoardProfile(log, image(build), device).run());
    }

    /** Builds what is out of date and compares its operators, one by one, with the reference interpreter. */
    public void compareLayers(BuildSpec spec) {
        ResolvedBuild build = resolved(spec);
        if (CompareNpuStep.concerns(build)) {
            alone(spec, "kiln:compare-layers", () -> new CompareNpuStep(log, image(build)).run());
            return;
        }
        CompareLayersStep.requireGraphs(spec);
        alone(spec, "kiln:compare-layers", () -> new CompareLayersStep(log, image(build), environment).run());
    }

    /** Builds what is out of date and runs the tests of the project's own program; without tests it does nothing. */
    public void test(BuildSpec spec, DeviceSpec device, TestSpec tests) {
        if (!TestStep.areIn(spec.layout())) {
            return;
        }
        List<ResolvedBuild> builds = new ArrayList<>();
        alone(spec, "kiln:test", () -> {
            new TestStep(
                            log,
                            spec,
                            device,
                            tests,
                            other -> noted(telling(line -> {}).generated(other), builds),
                            other -> noted(imageOnce(other), builds))
                    .run();
            if (!tests.onBoard()) {
                watch.settled(builds);
            }
        });
    }

    /** The image of a build; what an earlier goal has said of it is not said again. */
    private ResolvedBuild imageOnce(BuildSpec spec) {
        List<String> lines = new ArrayList<>();
        Flow building = telling(lines::add);
        ResolvedBuild build = building.resolved(spec);
        if (building.linked(build, () -> {}).relinked()) {
            lines.forEach(log::info);
        }
        return build;
    }

    /** The same work, whose lines for every user go elsewhere. */
    private Flow telling(Consumer<String> lines) {
        return new Flow(Log.of(lines, log::warn, log::debug), environment, watch);
    }

    private static ResolvedBuild noted(ResolvedBuild build, List<ResolvedBuild> builds) {
        builds.add(build);
        return build;
    }

    /** Flashes the existing image. */
    public void flash(BuildSpec spec, FlashSpec flash) {
        ResolvedBuild build = resolved(spec);
        BuildLock.hold(log, spec.layout(), "kiln:flash", () -> {
            new FirmwareSteps(Log.QUIET, build).requireLinkedIfBuiltHere();
            new FlashStep(log, build, flash).deploy();
        });
    }

    /** Builds what is out of date and flashes the image. */
    public void buildAndFlash(BuildSpec spec, FlashSpec flash) {
        ResolvedBuild build = resolved(spec);
        alone(spec, "kiln:flash", () -> new FlashStep(log, image(build), flash).run());
    }

    /**
     * Builds what is out of date and writes debugger configurations.
     *
     * @param openOcd name or path of OpenOCD
     * @param probe the probe; empty for the only one connected
     */
    public void debug(BuildSpec spec, String openOcd, Optional<String> probe) {
        ResolvedBuild build = resolved(spec);
        alone(spec, "kiln:debug", () -> new DebugStep(log, image(build), openOcd, probe).run());
    }

    /**
     * Builds a project of a Project API server and flashes its board; with a template it compiles the models and
     * generates the project first. Without one it needs no model.
     */
    public void project(BuildSpec spec, ProjectSpec project) {
        Optional<ResolvedBuild> build = project.template().map(template -> resolved(spec));
        alone(spec, "kiln:project", () -> {
            ProjectStep step = new ProjectStep(log, spec.layout(), project);
            build.ifPresent(models -> {
                new GenerateStep(log, models).run();
                step.generate(models, project.template().orElseThrow());
            });
            step.buildAndFlash();
        });
    }

    /**
     * Describes a file, or the build's models and image, for people.
     *
     * @param inputs shapes and values of the inputs, if the file is a model
     */
    public void inspect(BuildSpec spec, Optional<Path> file, GivenInputs inputs) {
        new Inspector(spec, inputs).lines(file).forEach(log::answer);
    }

    /** What {@link #inspect(BuildSpec, Optional, GivenInputs)}, or an inspector of the file's artifacts, shows, for programs. */
    public InspectReport inspectReport(
            BuildSpec spec, Optional<Path> file, GivenInputs inputs, Optional<String> inspector) {
        Inspector files = new Inspector(spec, inputs);
        return file.flatMap(path -> inspector.map(name -> Inspector.report(path, name)))
                .orElseGet(() -> files.report(file));
    }

    /**
     * Prints an artifact inspector's description of a file.
     *
     * @param inspector its name, or {@code ?} for a list
     */
    public void inspect(Path file, String inspector) {
        Inspector.lines(file, inspector).forEach(log::answer);
    }

    /**
     * Makes a library for this computer of each model, or a library of C sources of all for another build system.
     *
     * @param kind what is made: {@code library}, or the build system
     * @param version version of a library of sources; empty for that of its models
     * @param withArtifacts whether the library for this computer carries artifacts, for Kiln's own loader, rather than modules
     */
    public void export(BuildSpec spec, String kind, String version, boolean withArtifacts) {
        if (spec.codegens().vela().isPresent()) {
            throw Failure.CONFIG.exception(
                    "kiln:export does not run Vela",
                    "kiln.npu",
                    "a model that Vela has compiled",
                    "Give what a build with kiln.npu leaves in kiln/npu as kiln.model, and leave kiln.npu out");
        }
        Runnable export = kind.equals(LibraryExport.KIND)
                ? new LibraryExport(log, spec, environment, withArtifacts)::run
                : SourceExport.of(log, spec, kind, version)::run;
        alone(spec, "kiln:export", export);
    }

    private ResolvedBuild generated(BuildSpec spec) {
        ResolvedBuild build = resolved(spec);
        new GenerateStep(log, build).run();
        return build;
    }

    private ResolvedBuild image(ResolvedBuild build) {
        linked(build, () -> {});
        return build;
    }

    /** Builds the image; {@code check} runs between the models' compilation and that of their C. */
    private Image linked(ResolvedBuild build, Runnable check) {
        new GenerateStep(log, build).run();
        check.run();
        FirmwareSteps steps = new FirmwareSteps(log, build);
        steps.assemble();
        steps.compile();
        return steps.link();
    }

    private ResolvedBuild resolved(BuildSpec spec) {
        ResolvedBuild build = new VelaStep(log, new Resolver(environment).resolve(spec)).compiled();
        return spec.compiler().fit().isSought() ? new FitStep(log, build).settled() : build;
    }
}
