// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.artifact.Convention;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Failure;
import io.kiln.base.Optimize;
import io.kiln.base.ParameterValue;
import io.kiln.base.Problems;
import io.kiln.compile.CallOptions;
import io.kiln.compile.CompileOptions;
import io.kiln.compile.CompileOptions.RamOptions;
import io.kiln.compile.ReadOptions;
import io.kiln.firmware.FirmwareRequest.ImageOptions;
import io.kiln.firmware.OwnParts;
import io.kiln.firmware.TrustedArchives;
import io.kiln.firmware.app.DefaultApplication.Application;
import io.kiln.flow.Flow;
import io.kiln.flow.model.SharedModel;
import io.kiln.flow.resolve.CmsisNnArtifact;
import io.kiln.flow.spec.BudgetSpec;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ArchiveSpec;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.MachineSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.CompilerSpec;
import io.kiln.flow.spec.CompilerSpec.CodegenSpec;
import io.kiln.flow.spec.CompilerSpec.FitSpec;
import io.kiln.flow.spec.CompilerSpec.QuantizeSpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.DeviceSpec.FlashSpec;
import io.kiln.flow.spec.ImageSpec;
import io.kiln.flow.spec.ImageSpec.CodeSpec;
import io.kiln.flow.spec.PassConfig;
import io.kiln.flow.spec.TuneSpec.RecordsSpec;
import io.kiln.flow.spec.UpdateSpec;
import io.kiln.maven.artifact.ReactorFolders.BoardArtifacts;
import io.kiln.maven.artifact.ReactorFolders.LibraryArtifacts;
import io.kiln.maven.artifact.ReactorFolders.RecordArtifacts;
import io.kiln.maven.bean.ExternalBean;
import io.kiln.maven.bean.Model;
import io.kiln.maven.bean.Model.ModelChoice;
import io.kiln.maven.group.Beside;
import io.kiln.maven.group.CompilationGroups;
import io.kiln.maven.group.Device;
import io.kiln.maven.group.GoalParameters.OperatorFunctions;
import io.kiln.maven.group.Mlperf;
import io.kiln.maven.group.Quantize;
import io.kiln.maven.group.Update;
import io.kiln.maven.group.Verify;
import io.kiln.maven.session.Budgets;
import io.kiln.maven.session.GivenWords;
import io.kiln.maven.session.MojoLog;
import io.kiln.maven.session.NamedProperties;
import io.kiln.maven.session.Terminal;
import io.kiln.maven.session.Timestamps;
import io.kiln.maven.session.UnchangedBuild;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import io.kiln.transform.PassOptions;
import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.maven.plugins.annotations.Parameter;
import org.codehaus.plexus.configuration.PlexusConfiguration;

/** A goal that builds: what becomes firmware of which models, and how. Its parameters are those of {@link BuildSpec}. */
abstract class AbstractBuildMojo extends AbstractKilnMojo {
    /**
     * The model: a {@code .tflite} or {@code .onnx} file, or {@code .relay} with its {@code .params} beside it; or {@code group:artifact:version}
     * of packaging {@code model}, with {@code :FILE} if it has several, or with {@code :mlf} the archive of a firmware project. If not set, the
     * one file in {@code src/main/model}, or the one dependency of type {@code model}.
     */
    @Parameter(property = "kiln.model")
    private String model;

    /** Name of the model in the generated C: {@code tvmgen_NAME_run}. */
    @Parameter(property = "kiln.name", defaultValue = "default")
    private String name;

    /**
     * Several models in one image, each an element {@code model} with {@code file}, or coordinates in its place, and {@code name}; instead of {@code model} and {@code name}.
     */
    @Parameter
    private List<Model> models;

    /**
     * Shapes of the model's inputs, {@code name:1,96,96,1;other:1,10}, for dimensions that the model leaves open or for
     * another batch size.
     */
    @Parameter(property = "kiln.inputShapes")
    private String inputShapes;

    /** Values of an ONNX model's inputs that are the same in every run, {@code sr=16000;sizes=[1, 2]}: they become constants. */
    @Parameter(property = "kiln.inputValues")
    private String inputValues;

    /**
     * How audio becomes the model's input: a YAML file; if not set, {@code MODEL.preprocess.yaml} beside the model, if there is one. Of several
     * models each has its own: the element {@code preprocess} of its {@code model}.
     */
    @Parameter(property = "kiln.preprocess")
    private File preprocess;

    /** Version of the models, which programs read as {@code TVMGEN_NAME_MODEL_VERSION}; the default is the project's. */
    @Parameter(property = "kiln.modelVersion", defaultValue = "${project.version}")
    private String modelVersion;

    /**
     * The board: its id, as {@code kiln:boards} lists it, or {@code group:artifact:version:id} of packaging {@code board-profile}.
     */
    @Parameter(property = "kiln.board", defaultValue = "mps2-an386")
    private String board;

    /**
     * Boards from artifacts whose own Tcl or emulator may run programs on this computer: {@code group:artifact[:version[:id]]}, separated by
     * commas. Others are refused.
     */
    @Parameter(property = "kiln.trustBoard", defaultValue = "")
    private String trustBoard;

    /**
     * The toolchain: {@code clang} (bundled and pinned), {@code gnu}, {@code host} or a descriptor's file. If not set, the
     * board's; otherwise {@code host} for the board {@code host} and {@code clang} for others.
     */
    @Parameter(property = "kiln.toolchain")
    private String toolchain;

    /**
     * Folder of compilers and objects that builds share. If not set, {@code KILN_HOME}, or {@code kiln} beside the local repository.
     */
    @Parameter(property = "kiln.home")
    private File home;

    /** What to optimize for: {@code speed}, {@code size} (least flash), {@code ram} (least RAM) or {@code fit} (fastest image in memory). */
    @Parameter(property = "kiln.optimize", defaultValue = "speed")
    private String optimize;

    /**
     * The target of the models' code in place of the board's, for the same core: {@code llvm} for objects by the bundled clang, {@code c} for
     * C; alone, or whole: {@code llvm -mcpu=cortex-m4}. Other code generators before the
     * host's take operators in this order: {@code cmsis-nn -mcpu=cortex-m55, c -mcpu=cortex-m55}.
     */
    @Parameter(property = "kiln.target")
    private String target;

    /**
     * CMSIS-NN's sources, for a {@code kiln.target} that names {@code cmsis-nn}: a folder with {@code Include} and {@code Source}, or an artifact
     * that contains them, {@code group:artifact:version[:extension[:classifier]]}: {@code zip} (the default), {@code jar} or {@code tar.gz}.
     */
    @Parameter(property = "kiln.cmsisNn")
    private String cmsisNn;

    /**
     * C functions that compute chains of operators, each with the elements {@code name}, {@code operators}, {@code function}, {@code header}
     * and {@code constants}. They take operators before the code generators of {@code kiln.target}.
     */
    @Parameter
    private List<ExternalBean> externals;

    /**
     * How programs call a model: {@code c}, a header with structs of typed members, or {@code packed}, microTVM's packed functions. If not
     * set, {@code packed} with {@code kiln.application} {@code rpc}, else {@code c}.
     */
    @Parameter(property = "kiln.interfaceApi")
    private String interfaceApi;

    /** Whether operators take pointers; if not, operators are packed functions, too, which needs {@code kiln.interfaceApi} {@code packed}. */
    @Parameter(property = "kiln.unpackedApi", defaultValue = "true")
    private boolean unpackedApi;

    /**
     * Whether packed functions are listed in a system library, where the C runtime finds them by their names. If not set, they are listed
     * with {@code kiln.interfaceApi} {@code packed}.
     */
    @Parameter(property = "kiln.systemLib")
    private Boolean systemLib;

    /** Whether packed functions leave out the checks of their arguments. */
    @Parameter(property = "kiln.disableAssert", defaultValue = "false")
    private boolean disableAssert;

    /**
     * What calls a model's operators: {@code aot}, a generated C function; {@code graph}, the C runtime's executor of graphs; {@code none}:
     * nothing, each operator is found by its name.
     */
    @Parameter(property = "kiln.executor", defaultValue = "aot")
    private String executor;

    /** Whether constants lie in the C. If not, they are parameters in a file of their own, which {@code kiln.executor} {@code graph} loads. */
    @Parameter(property = "kiln.linkParams", defaultValue = "true")
    private boolean linkParams;

    /** Who owns inputs and outputs: {@code caller}, or {@code workspace} to keep them in one pool with the workspace. */
    @Parameter(property = "kiln.io", defaultValue = "caller")
    private String io;

    /** Version of the Model Library Format: 7, or 5 for tools that support no newer one. Several models are always written as version 7. */
    @Parameter(property = "kiln.mlfVersion", defaultValue = "7")
    private int mlfVersion;

    /** What the archive holds: element {@code slim}, or property {@code kiln.mlf.slim}. */
    @Parameter
    private PlexusConfiguration mlf;

    /**
     * How float models are quantized: elements {@code mode}, {@code samples}, {@code labels}, {@code method}, {@code equalize}, {@code keepFloat}, {@code io}, {@code
     * maxAccuracyLoss} and {@code minSqnr}, or properties {@code kiln.quantize} (the mode) and {@code kiln.quantize.NAME}.
     */
    @Parameter
    private PlexusConfiguration quantize;

    /** How operators are fused: element {@code maxDepth}, or property {@code kiln.fuse.maxDepth}. */
    @Parameter
    private PlexusConfiguration fuse;

    /** Names of passes to skip. Results do not change; a pass that cannot be skipped is refused. */
    @Parameter(property = "kiln.disabledPasses")
    private List<String> disabledPasses;

    /**
     * Settings by the names of TVM's {@code PassContext}, such as {@code relay.FuseOps.max_depth=1}, separated by commas; they win over Kiln's own
     * parameters, and unknown ones are refused.
     */
    @Parameter(property = "kiln.passConfig")
    private List<String> passConfig;

    /** Writes the IR after each pass to {@code kiln/ir/NN-PASS.relay} in the output folder, and the loops to {@code 07-lower.tir}. */
    @Parameter(property = "kiln.dumpIr", defaultValue = "false")
    private boolean dumpIr;

    /**
     * The most bytes that the models may take of a pool, by the memory's name: elements such as {@code sram} with sizes such as {@code 96K}, or
     * the property {@code kiln.memory.sram}.
     */
    @Parameter
    private Map<String, String> memory;

    /** Copies in RAM: elements {@code code} and {@code weights}, or properties {@code kiln.ram.NAME}. */
    @Parameter
    private PlexusConfiguration ram;

    /**
     * The log of tuning records that the build follows and {@code kiln:tune} writes. If not set, {@code src/main/tuning/BOARD.log}; if
     * there is no such file, rules choose all schedules.
     */
    @Parameter(property = "kiln.tune.records")
    private File tuneRecords;

    /**
     * What {@code kiln:tune} minimises: {@code cycles}, {@code board-cycles} (with waits of flash), {@code instructions}, {@code time} (on a board),
     * {@code size} or {@code ram}, or several with weights, such as {@code cycles:1,size:0.2}. If not set: what builds of the board follow. With {@code
     * instructions}, builds follow records of these in place of those of cycles and time.
     */
    @Parameter(property = "kiln.tune.objective")
    private String tuneObjective;

    /**
     * Whether micro-kernels take their C twins on the target in place of assembly and vendor intrinsics. The image is larger and slower, and
     * answers the same; if it does not, a kernel is wrong.
     */
    @Parameter(property = "kiln.portable", defaultValue = "false")
    private boolean portable;

    /**
     * C functions that compute operators outside TensorFlow Lite's own set, each with the elements {@code code}, {@code function}, {@code header},
     * {@code shape}, {@code quantization}, {@code options} and {@code reference}; or property {@code kiln.customOperators}: {@code
     * MyOp:my_op:my_op.h:input0:quantization,options:my_op_reference.c;Other:other}.
     */
    @Parameter
    private PlexusConfiguration customOperators;

    /** How ONNX models are read: elements {@code io} and {@code data}, or properties {@code kiln.onnx.NAME}. */
    @Parameter
    private PlexusConfiguration onnx;

    /** How TensorFlow Lite models are read: element rounding or signature, property kiln.tflite.rounding or kiln.signature. */
    @Parameter
    private PlexusConfiguration tflite;

    /** The most bytes: elements {@code flash} and {@code ram} of the image, {@code model} of a model file; or properties {@code kiln.limit.NAME}. */
    @Parameter
    private PlexusConfiguration limit;

    /**
     * What runs on an image without a {@code main} of its own: {@code console}, by which a host runs models; {@code rpc}, microTVM's server, for the
     * bench only; {@code mlperf-tiny}, the benchmark's serial protocol.
     */
    @Parameter(property = "kiln.application", defaultValue = "console")
    private String application;

    /** Folders of code that are compiled like {@code src/main/c}, each an element {@code source}, or separated by commas. */
    @Parameter(property = "kiln.sources")
    private List<String> sources;

    /** Folders that are searched for headers by the project's own code, separated by commas. All that they hold is copied into the C project. */
    @Parameter(property = "kiln.include")
    private List<String> include;

    /** Macros for the project's own code, {@code NAME} or {@code NAME=value}, separated by commas; a value with a comma needs an element of its own. */
    @Parameter(property = "kiln.define")
    private List<String> define;

    /**
     * Further arguments of the compiler for the project's own code, separated by commas. A {@code -std} of C++ applies to C++ only, and one of C
     * to C only.
     */
    @Parameter(property = "kiln.compilerArgs")
    private List<String> compilerArgs;

    /** How the project's own code is compiled: elements {@code libc} and {@code debug}, or properties {@code kiln.libc} and {@code kiln.debug}. */
    @Parameter
    private PlexusConfiguration code;

    /**
     * Archives whose C is compiled like the project's own, separated by commas: each {@code sha256:} with the file's digest, or the name of one
     * that the project makes itself. Other C of archives is first checked against a small language.
     */
    @Parameter(property = "kiln.trustArchive", defaultValue = "")
    private String trustArchive;

    /**
     * Whether an image in QEMU may open files and start programs on this computer through semihosting. Only for images
     * whose code you trust.
     */
    @Parameter(property = "kiln.semihosting", defaultValue = "false")
    private boolean semihosting;

    /**
     * How images and models are replaced in the field: elements {@code mode}, {@code key}, {@code server}, {@code minimumFirmware} and {@code
     * imageHeader}, or properties {@code kiln.update} (the mode), {@code kiln.update.NAME} and {@code kiln.imageHeader}.
     */
    @Parameter
    private PlexusConfiguration update;

    /** What the project has in place of the board's: elements {@code kind}, {@code startup}, {@code linker} and {@code console}. */
    @Parameter
    private PlexusConfiguration firmware;

    /**
     * How the image is verified: elements {@code on}, {@code vectors}, {@code samples}, {@code seed}, {@code program} and {@code over}, or properties {@code
     * kiln.verify.NAME}.
     */
    @Parameter
    private PlexusConfiguration verify;

    /**
     * A farm that runs images in place of this computer: elements NAME of the properties {@code kiln.farm.NAME}; {@code address} is {@code kiln.farm}.
     */
    @Parameter
    private PlexusConfiguration farm;

    /** The folders of the build; goals called by hand may use others. */
    Layout layout(List<ModelSource> sources) {
        return projectLayout();
    }

    /**
     * The folders of a build by hand: the project's own, if that makes firmware.
     *
     * @param outputDirectory of all other builds
     */
    final Layout byHand(File outputDirectory, List<ModelSource> sources) {
        return isFirmware() ? projectLayout() : apart(outputDirectory, base(sources));
    }

    /** The flow for this session and project. */
    final Flow flow() {
        return new Flow(new MojoLog(getLog()), environment(home));
    }

    /** Runs a goal of the lifecycle, unless nothing has changed since it left nothing to do. */
    final void runUnlessUpToDate(String goal, Consumer<Flow> work) {
        runUnlessUpToDate(goal, null, work);
    }

    /**
     * As above. Called by hand, a goal runs in any case.
     *
     * @param goal whose memory counts
     * @param budget the element {@code budget}, null if it is not set
     * @param work runs the goal
     */
    final void runUnlessUpToDate(String goal, Map<String, String> budget, Consumer<Flow> work) {
        MojoLog log = new MojoLog(getLog());
        ToolchainEnvironment environment = environment(home);
        Optional<String> baseline = Budgets.baseline(named(Budgets.PREFIX, budget));
        Stream<String> files = models == null ? Stream.of() : models.stream().map(Model::file);
        Stream<String> named = Stream.concat(Stream.of(model, board, cmsisNn, baseline.orElse(null)), files);
        if (isPartOfLifecycle() && UnchangedBuild.canBe(project(), named)) {
            new UnchangedBuild(session(), project(), execution(), log, environment)
                    .run(projectLayout(), goal, baseline, watch -> work.accept(new Flow(log, environment, watch)));
        } else {
            work.accept(new Flow(log, environment));
        }
    }

    private Map<String, String> named(String prefix, Map<String, String> configured) {
        return new NamedProperties(session(), project()).of(prefix, configured);
    }

    /** What a search minimises, if it is set. */
    final Optional<String> tuneObjective() {
        return Optional.ofNullable(tuneObjective);
    }

    /** The user's request. */
    final BuildSpec spec() {
        String signature = CompilationGroups.signature(values(CompilationGroups.TFLITE, tflite));
        ModelChoice choice = new ModelChoice.Named(
                        models, model, name, GivenInputs.of(inputShapes, inputValues, signature))
                .find(modelArtifacts(home), projectLayout(), project().getDependencies());
        Optional<SharedModel> shared = choice.shared();
        List<ModelSource> modelSources = choice.prepared(
                hasProject() ? version() : "", Optional.ofNullable(preprocess).map(File::toPath));
        Problems malformed = new Problems(Failure.CONFIG);
        ImageOptions image = new ImageOptions(
                malformed
                        .read(() -> ParameterValue.of("kiln.application", Application.class, application))
                        .orElse(Application.CONSOLE),
                Mlperf.options(values(Mlperf.MLPERF, null), malformed),
                TrustedArchives.parse(trustArchive == null ? "" : trustArchive));
        OwnParts own = malformed
                .read(() -> Beside.own(values(Beside.FIRMWARE, firmware)))
                .orElse(OwnParts.NONE);
        CompileOptions options = options(malformed, image.application(), own);
        QuantizeSpec quantized = Quantize.spec(
                values(Quantize.GROUP, quantize),
                malformed,
                shared.flatMap(SharedModel::samples),
                shared.flatMap(SharedModel::labels));
        VerifySpec verification = Verify.spec(values(Verify.GROUP, verify), malformed);
        MachineSpec machine = machine(malformed);
        CodeSpec code = code(own, malformed);
        List<Path> sharedRecords =
                RecordArtifacts.fetch(project().getDependencies(), session().getProjects(), fetcher());
        RecordsSpec records = malformed
                .read(() -> RecordsSpec.of(
                        Optional.ofNullable(tuneRecords).map(File::toPath), sharedRecords, tuneObjective()))
                .orElse(RecordsSpec.USUAL);
        FitSpec fit = CompilationGroups.fit(optimize, values(CompilationGroups.LIMIT, limit), malformed);
        SortedMap<String, Long> limits = CompilerSpec.memoryLimits(named("kiln.memory.", memory));
        return new BuildSpec(
                layout(modelSources),
                modelSources,
                machine,
                new CompilerSpec(options, codegens(), limits, quantized, records, dumpIr, fit),
                archive(),
                new ImageSpec(
                        image,
                        code,
                        List.of(),
                        semihosting,
                        verification,
                        farm(farm, home).use()),
                malformed.list());
    }

    private ArchiveSpec archive() {
        return new ArchiveSpec(
                mlfVersion,
                Timestamps.parse(
                        parameters().property("project.build.outputTimestamp").orElse(null)),
                CompilationGroups.isSlim(values(CompilationGroups.MLF, mlf)));
    }

    private MachineSpec machine(Problems malformed) {
        BoardArtifacts named = new BoardArtifacts(board);
        return new MachineSpec(
                named.id(),
                Optional.ofNullable(toolchain),
                boardSources(named, trustBoard),
                malformed.read(this::updates).orElse(UpdateSpec.NONE));
    }

    /** The project's own code beside that in {@code src/main/c}. */
    private CodeSpec code(OwnParts own, Problems malformed) {
        return new CodeSpec(
                GivenWords.folders(folder(), sources),
                GivenWords.folders(folder(), include),
                CompilationGroups.code(
                        GivenWords.of(define),
                        GivenWords.of(compilerArgs),
                        values(CompilationGroups.CODE, code),
                        malformed),
                new LibraryArtifacts(session().getProjects(), fetcher())
                        .of(project().getDependencies()),
                own);
    }

    private UpdateSpec updates() {
        return Update.spec(
                values(Update.GROUP, update),
                version(),
                String.valueOf(project().getVersion()),
                session().getSettings());
    }

    private String version() {
        return modelVersion == null ? "" : modelVersion;
    }

    private CompileOptions options(Problems malformed, Application chosen, OwnParts own) {
        Optimize optimized = malformed.read(() -> FitSpec.goal(optimize)).orElse(Optimize.SPEED);
        Io owner = malformed.read(() -> Io.of(io)).orElse(Io.CALLER);
        CallOptions calls = calls(malformed, owner, chosen);
        PassOptions passes = new PassOptions(
                CompilationGroups.maxDepth(values(CompilationGroups.FUSE, fuse)),
                Set.copyOf(GivenWords.of(disabledPasses)));
        RamOptions copies = own.forbidsCopies()
                ? RamOptions.NONE
                : CompilationGroups.ram(values(CompilationGroups.RAM, ram), malformed);
        ReadOptions reading = OperatorFunctions.in(
                CompilationGroups.reading(
                        values(CompilationGroups.ONNX, onnx),
                        values(CompilationGroups.TFLITE, tflite),
                        values(CompilationGroups.LIMIT, limit)),
                parameters(),
                Optional.ofNullable(customOperators));
        return malformed
                .read(() -> PassConfig.parse(passConfig == null ? List.of() : passConfig))
                .orElse(PassConfig.NONE)
                .over(new CompileOptions(optimized, calls, passes, reading, portable, copies, Optional.empty()));
    }

    private CallOptions calls(Problems malformed, Io owner, Application chosen) {
        String usual = (chosen == Application.RPC ? Convention.PACKED : Convention.TYPED).interfaceApi();
        String api = interfaceApi == null ? usual : interfaceApi;
        CallOptions calls = malformed
                .read(() -> CallOptions.of(api, unpackedApi, Optional.ofNullable(systemLib), disableAssert))
                .orElse(CallOptions.TYPED)
                .with(owner);
        return malformed
                .read(() -> ExecutorKind.of(executor))
                .map(kind -> calls.with(kind, linkParams))
                .orElse(calls);
    }

    private CodegenSpec codegens() {
        return new CodegenSpec(
                Optional.ofNullable(target),
                Optional.ofNullable(cmsisNn).map(text -> CmsisNnArtifact.folder(text, folder(), environment(home))),
                externals == null
                        ? List.of()
                        : externals.stream().map(ExternalBean::external).toList(),
                CompilationGroups.vela(values(CompilationGroups.TFLITE, tflite), folder()));
    }

    /**
     * The limits of the build.
     *
     * @param budget the element {@code budget}, null if it is not set
     */
    final BudgetSpec budgets(Map<String, String> budget) {
        return Budgets.of(named(Budgets.PREFIX, budget), fetcher());
    }

    /**
     * How a board is flashed and talked to.
     *
     * @param flash the element of {@link Device#FLASH}, null if it is not set
     * @param probe {@code kiln.probe}, likewise
     * @param faults {@code kiln.probe.faults}, likewise
     * @param monitor the element of {@link Device#MONITOR}, likewise
     */
    final DeviceSpec device(
            PlexusConfiguration flash, String probe, String openocd, String faults, PlexusConfiguration monitor) {
        return new DeviceSpec(
                flashing(flash, probe, openocd, faults),
                !Device.isFlashSkipped(values(Device.FLASH, flash)),
                Device.console(values(Device.MONITOR, monitor)));
    }

    /** How a board is flashed; parameters as above. */
    final FlashSpec flashing(PlexusConfiguration flash, String probe, String openocd, String faults) {
        return Device.flash(
                values(Device.FLASH, flash),
                Optional.ofNullable(probe),
                openocd,
                hasProject()
                        ? Optional.of(project().getGroupId() + ":" + project().getArtifactId() + ":"
                                + project().getVersion())
                        : Optional.empty(),
                Optional.ofNullable(faults),
                session().getRequest().isInteractiveMode() && Terminal.isWatched());
    }
}
