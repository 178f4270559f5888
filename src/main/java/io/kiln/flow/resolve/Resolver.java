// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import io.kiln.artifact.CNames;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ObjectCompiler;
import io.kiln.base.Failure;
import io.kiln.base.GitLfs;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.base.TargetText;
import io.kiln.compile.CompileOptions.RamOptions;
import io.kiln.compile.Frontends;
import io.kiln.firmware.app.DefaultApplication.Application;
import io.kiln.flow.resolve.ModelFiles.ModelArchives;
import io.kiln.flow.resolve.ResolvedBuild.NpuFit;
import io.kiln.flow.resolve.Resolver.LibraryTarget.TargetChoice;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifyOver;
import io.kiln.flow.spec.CompilerSpec.CodegenSpec;
import io.kiln.flow.spec.ImageSpec.CodeSpec;
import io.kiln.flow.spec.UpdateSpec;
import io.kiln.frontend.ReadLimits;
import io.kiln.npu.NpuConfiguration;
import io.kiln.partition.UserFunctions;
import io.kiln.partition.cmsisnn.CmsisNnCodegen;
import io.kiln.partition.ethosu.EthosUCodegen;
import io.kiln.preprocess.Preprocessing;
import io.kiln.target.CompositeTarget;
import io.kiln.target.InstructionCache;
import io.kiln.target.Target;
import io.kiln.target.TargetKind;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Building.NamedToolchain;
import io.kiln.toolchain.compiler.TargetOptions;
import io.kiln.toolchain.compiler.Toolchain;
import io.kiln.toolchain.compiler.Toolchain.ClangObjects;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import io.kiln.toolchain.compiler.Toolchains;
import java.nio.file.Files;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/** Finds the board and the toolchain of a build, and reports all errors at once. */
public final class Resolver {
    private static final Set<Integer> MLF_VERSIONS = Set.of(5, 7);

    private final ToolchainEnvironment environment;
    private final Problems problems = new Problems(Failure.CONFIG);
    private final Problems missing = new Problems(Failure.CONFIG);

    public Resolver(ToolchainEnvironment environment) {
        this.environment = environment;
    }

    /**
     * The build with its board and toolchain.
     *
     * @throws KilnException if names, files, board or toolchain are wrong or missing
     */
    public ResolvedBuild resolve(BuildSpec spec) {
        ResolvedBuild build = resolveAhead(spec);
        missing.throwIfAny();
        return build;
    }

    /**
     * As {@link #resolve}, before other plugins have run: missing files go to {@link #missing}, unless there are other
     * errors; then they are among them.
     */
    public ResolvedBuild resolveAhead(BuildSpec spec) {
        checkSpec(spec, problems, missing);
        Boards boards = spec.boards();
        Optional<Board> board = problems.read(() -> TargetChoice.of(boards.find(spec.board()), spec.codegens())
                .compiledWith(spec.image().compilerFlags()));
        board.map(found -> BoardPools.problems(found, spec.compiler().memoryLimits()))
                .ifPresent(found -> found.forEach(problems::add));
        Optional<Toolchain> toolchain = board.flatMap(found -> problems.read(() -> toolchain(spec, found)));
        Optional<ClangObjects> objects = toolchain.isPresent() && isOfObjects(board.orElseThrow())
                ? problems.read(() -> objects(spec, board.orElseThrow()))
                : Optional.empty();
        if (!problems.isEmpty()) {
            missing.list().forEach(problems::add);
        }
        problems.throwIfAny();
        ResolvedBuild build = new ResolvedBuild(
                spec,
                spec.image().code().own().replaceIn(board.orElseThrow()),
                boards.emulated(board.orElseThrow()),
                toolchain.orElseThrow(),
                objects);
        NpuFit.problems(build).forEach(problems::add);
        checkVela(build, problems);
        problems.throwIfAny();
        return build;
    }

    /** Missing files that another plugin may still create. */
    public Problems missing() {
        return missing;
    }

    private Toolchain toolchain(BuildSpec spec, Board board) {
        TargetOptions target = TargetOptions.parse(board.target());
        Toolchain toolchain = Toolchains.resolve(ToolchainChoice.of(spec.toolchain(), board), target, environment);
        CodeSpec code = spec.image().code();
        Toolchain withC = Toolchains.with(code.flags().libc(), toolchain, target, environment);
        Toolchain complete = code.mayHaveCplusplus(spec.layout(), board)
                ? Toolchains.forCplusplus(withC, target, environment)
                : withC;
        boolean hasStrangers = spec.models().stream()
                .anyMatch(model -> ModelArchives.isStranger(
                        model.file(), spec.image().options().trusted()));
        return hasStrangers ? Toolchains.forStrangers(complete, environment) : complete;
    }

    private static boolean isOfObjects(Board board) {
        return TargetText.kind(board.target()).equals(TargetKind.LLVM.text());
    }

    /** The compiler of objects for a board. It takes the board's flags without those that name folders, which are for the board's own sources. */
    private ClangObjects objects(BuildSpec spec, Board board) {
        List<String> flags = board.building().compile().stream()
                .filter(flag -> !flag.startsWith("-I"))
                .toList();
        return ClangObjects.of(board.target(), spec.optimize(), flags, environment);
    }

    /** Adds all that is wrong. */
    private static void checkVela(ResolvedBuild build, Problems problems) {
        build.spec().codegens().vela().ifPresent(vela -> {
            checkNpu(build, vela.configuration(), problems);
            checkVelaModels(build.spec(), problems);
            problems.collect(() -> VelaProgram.find(vela));
        });
    }

    private static void checkNpu(ResolvedBuild build, String asked, Problems problems) {
        String board = "board " + build.board().id();
        if (!NpuConfiguration.NAMES.contains(asked)) {
            problems.add(
                    "kiln.npu is '" + asked + "'",
                    "",
                    "one of " + String.join(", ", NpuConfiguration.NAMES),
                    "Correct kiln.npu");
            return;
        }
        Optional<CompositeTarget.External> npu = CompositeTarget.parse(build.target()).externals().stream()
                .filter(external -> external.name().equals(EthosUCodegen.NAME))
                .findFirst();
        String there = npu.map(external -> external.option(EthosUCodegen.CONFIGURATION, asked))
                .orElse("none");
        if (!there.equals(asked)) {
            problems.add(
                    "kiln.npu is " + asked + ", and the NPU of the target is " + there,
                    board,
                    npu.isEmpty() ? "a board with the key `npu`" : "kiln.npu " + there,
                    npu.isEmpty()
                            ? "Choose another board, or leave kiln.npu out"
                            : "Correct kiln.npu, or choose another board");
        }
    }

    private static void checkVelaModels(BuildSpec spec, Problems problems) {
        for (ModelSource model : spec.models()) {
            if (!model.file().toString().endsWith(".tflite")) {
                problems.add(
                        "Vela cannot read the model",
                        model.file().toString(),
                        "a .tflite file, whose tensors are integers",
                        "Leave kiln.npu out, or convert the model");
            }
            if (!model.inputs().equals(GivenInputs.NONE)) {
                problems.add(
                        "both kiln.npu and kiln." + model.inputs().parameter() + " are given",
                        model.file().toString(),
                        "the inputs of the file, which Vela compiles",
                        "Leave one of them out");
            }
        }
        if (spec.quantize().isActive()) {
            problems.add(
                    "both kiln.npu and kiln.quantize are given",
                    "",
                    "a model that is quantized already, which Vela needs",
                    "Build once with kiln.quantize, and give what it leaves as kiln/quantized.tflite to the build with"
                            + " kiln.npu");
        }
    }

    /**
     * Checks names, files and options; boards and toolchains are checked where they are resolved.
     *
     * @param missing gets missing files, which another plugin may still create
     */
    static void checkSpec(BuildSpec spec, Problems problems, Problems missing) {
        checkModels(spec, problems, missing);
        spec.malformed().forEach(problems::add);
        if (!MLF_VERSIONS.contains(spec.archive().version())) {
            problems.add(
                    "kiln.mlfVersion is '" + spec.archive().version() + "'",
                    "",
                    "one of 5, 7",
                    "Change kiln.mlfVersion");
        }
        checkServer(spec, problems);
        checkLinker(spec, problems);
        spec.image().code().check(problems);
        if (spec.calls().convention().hasPackedEntry() && spec.calls().io() == Io.WORKSPACE) {
            problems.add(
                    "kiln.io is workspace with kiln.interfaceApi packed: packed functions take each tensor by itself",
                    "",
                    "kiln.io caller, or kiln.interfaceApi c",
                    "Leave kiln.io out");
        }
        spec.compiler().options().passes().check(problems);
        spec.quantize().check(problems, missing);
        checkVerify(spec.verify(), problems, missing);
        spec.update().check(problems);
        RamOptions ram = spec.compiler().options().ram();
        if (spec.update().hasSlots() && (ram.code().isAsked() || ram.weights().isAsked())) {
            problems.add(
                    "kiln.ram copies models to RAM with kiln.update slots: the firmware's start-up code knows nothing"
                            + " of later models",
                    "",
                    "models that stay in their slots",
                    "Leave kiln.ram.code and kiln.ram.weights out");
        }
    }

    private static void checkVerify(BuildSpec.VerifySpec verify, Problems problems, Problems missing) {
        if (verify.samples() < 0) {
            problems.add("kiln.verify.samples is " + verify.samples(), "", "0 or more");
        }
        if (verify.program().isNegative()) {
            problems.add(
                    "kiln.verify.program is " + verify.program().toSeconds(),
                    "",
                    "seconds, or 0 to skip the project's own program");
        }
        verify.vectors()
                .filter(folder -> !Files.isDirectory(folder))
                .ifPresent(folder -> (Files.exists(folder) ? problems : missing)
                        .add(
                                "the folder of test vectors does not exist",
                                folder.toString(),
                                "a folder with input_0.bin and so on",
                                "Correct kiln.verify.vectors"));
    }

    /** Checks the models' functions for a server: it finds functions by name, and only their own checks compare arguments with the expected types. */
    private static void checkServer(BuildSpec spec, Problems problems) {
        boolean isCompiled = spec.models().stream().anyMatch(model -> !ModelArchives.accepts(model.file()));
        boolean isOver = spec.verify().over() == VerifyOver.RPC && spec.verify().on() != VerifyOn.NONE;
        if ((spec.application() == Application.RPC || isOver)
                && isCompiled
                && (!spec.calls().packed().systemLibrary()
                        || !spec.calls().packed().checked())) {
            problems.add(
                    (isOver ? "kiln.verify.over" : "kiln.application")
                            + " is rpc, and the models have no system library of packed functions that check their"
                            + " arguments",
                    "",
                    "kiln.interfaceApi packed, with kiln.systemLib and without kiln.disableAssert",
                    "Set kiln.interfaceApi to packed");
        }
    }

    /** A linker script of the project's own has no places for what is replaced on its own. */
    private static void checkLinker(BuildSpec spec, Problems problems) {
        boolean hasSlots = spec.update().models() == UpdateSpec.Models.SLOTS;
        boolean hasParameters =
                spec.calls().executor() == ExecutorKind.GRAPH && !spec.calls().linkParams();
        if (spec.image().code().own().linker().isPresent() && (hasSlots || hasParameters)) {
            problems.add(
                    (hasSlots ? "kiln.update is slots" : "kiln.linkParams is false")
                            + ", and the project has a linker script of its own, which has no place for that",
                    "kiln.linker",
                    "the board's linker script");
        }
    }

    private static void checkModels(BuildSpec spec, Problems problems, Problems missing) {
        if (spec.models().isEmpty()) {
            missing.add(
                    "no model is given",
                    "",
                    "kiln.model, or one file in " + spec.layout().userModels(),
                    "Put " + ModelFiles.EXPECTED + " there, or name one with -Dkiln.model=<file>");
        }
        Set<String> seen = new HashSet<>();
        for (BuildSpec.ModelSource model : spec.models()) {
            String name = model.name();
            CNames.modelNameProblem(name, model.file().toString()).ifPresent(problems::add);
            // File names are derived from model names, and some file systems ignore case.
            if (!seen.add(name.toLowerCase(Locale.ROOT))) {
                problems.add(
                        "the model name '" + name + "' is given twice",
                        model.file().toString(),
                        "a different name for every model",
                        "Set <name> in each <model> of <models>");
            }
            checkFile(model, spec.options().reading().limits(), problems, missing);
            problems.collect(model::shapes);
            checkPreprocessing(model, problems, missing);
        }
    }

    private static void checkPreprocessing(BuildSpec.ModelSource model, Problems problems, Problems missing) {
        model.preprocessing().ifPresent(file -> {
            if (!Files.exists(file)) {
                missing.add(
                        "the description of the signal processing does not exist",
                        file.toString(),
                        "a YAML file",
                        "Correct kiln.preprocess");
            } else if (ModelArchives.accepts(model.file())) {
                problems.add(
                        "signal processing is not put before the models of an archive",
                        file.toString(),
                        "a model that Kiln compiles",
                        "Put it before the model when the archive is made");
            } else {
                problems.collect(() -> Preprocessing.read(file));
            }
        });
    }

    private static void checkFile(BuildSpec.ModelSource model, ReadLimits limits, Problems problems, Problems missing) {
        String where = model.file().toString();
        if (Files.isDirectory(model.file())) {
            problems.add("the model is a folder", where, ModelFiles.EXPECTED, "Correct kiln.model");
        } else if (!Files.exists(model.file())) {
            missing.add("the model file does not exist", where, ModelFiles.EXPECTED, "Correct kiln.model");
        } else if (!Files.isRegularFile(model.file())) {
            problems.add("the model is not a file", where, ModelFiles.EXPECTED, "Correct kiln.model");
        } else if (!Files.isReadable(model.file())) {
            problems.add("the model file cannot be read", where, "a readable model", "Change its permissions");
        }
        GitLfs.pointer(model.file()).ifPresent(problems::add);
        Frontends.parameters(model.file(), limits).stream()
                .flatMap(params -> GitLfs.pointer(params).stream())
                .forEach(problems::add);
        Frontends.parameters(model.file(), limits).stream()
                .filter(params -> Files.exists(params) && (!Files.isRegularFile(params) || !Files.isReadable(params)))
                .forEach(params -> problems.add(
                        "the parameters beside the model cannot be read",
                        params.toString(),
                        "a readable .params file, or none",
                        "Change its permissions, or remove it"));
    }

    /**
     * The target of a shared library for this computer.
     *
     * @param text the target string, composite if the build names other code generators
     * @param objects what makes objects, if it is of kind llvm
     */
    public record LibraryTarget(String text, Optional<ObjectCompiler> objects) {
        private static final String PARAMETER = "kiln.target";

        /** Code generators whose functions call code that only firmware projects contain. */
        private static final Set<String> OF_FIRMWARE = Set.of(CmsisNnCodegen.NAME, UserFunctions.NAME);

        /**
         * The target that a build names, or C for this computer.
         *
         * @param flags of objects beside the usual ones
         * @throws KilnException if it names a core, or code generators whose functions call code outside the model
         */
        public static LibraryTarget of(BuildSpec spec, List<String> flags, ToolchainEnvironment environment) {
            CodegenSpec codegens = spec.codegens();
            codegens.target().ifPresent(LibraryTarget::check);
            Board board = TargetChoice.of(spec.boards().find("host"), codegens);
            boolean isOfObjects = TargetText.kind(board.target()).equals(TargetKind.LLVM.text());
            String text = codegens.target()
                    .filter(whole -> codegens.kind().isEmpty())
                    .map(whole -> CompositeTarget.parse(whole)
                            .withHost(Target.parse(board.target()))
                            .text())
                    .orElse(board.target());
            return new LibraryTarget(
                    text,
                    isOfObjects
                            ? Optional.of(ClangObjects.of(board.target(), spec.optimize(), flags, environment))
                            : Optional.empty());
        }

        private static void check(String text) {
            TargetOptions host = TargetOptions.parse(CompositeTarget.hostText(text));
            if (!host.isHost()) {
                throw Failure.TARGET.exception(
                        "the target is for the core " + host.cpu() + ", and the library is for this computer",
                        PARAMETER,
                        "a target without a core",
                        "Set -D" + PARAMETER + "=c, or llvm");
            }
            CompositeTarget.parse(text).externals().stream()
                    .map(CompositeTarget.External::name)
                    .filter(OF_FIRMWARE::contains)
                    .findFirst()
                    .ifPresent(name -> {
                        throw Failure.TARGET.exception(
                                "functions of `" + name + "` call what lies in a firmware project",
                                PARAMETER,
                                "code generators whose C is compiled by itself",
                                "Set -D" + PARAMETER + "=c: the answers are the same");
                    });
        }

        /** Chooses between the target that the build names and the board's. */
        static final class TargetChoice {
            private static final String PARAMETER = "kiln.target";

            private TargetChoice() {}

            /**
             * The board with the core's own part of the build's target. A kind alone, such as {@code llvm}, takes the options of the board's target, also
             * behind other code generators. A board whose code runs through a cache adds the size of that.
             *
             * @throws KilnException if it is not a target, or is for another core than the board's
             */
            static Board of(Board board, CodegenSpec codegens) {
                String own = board.target();
                return codegens.kind()
                        .or(() -> codegens.target()
                                .map(CompositeTarget::hostText)
                                .filter(TargetText.HOST_KINDS::contains))
                        .map(kind -> kind + own.substring(TargetText.kind(own).length()))
                        .or(() -> codegens.target().map(text -> host(text, board)))
                        .map(board::withTarget)
                        .map(TargetChoice::cached)
                        .orElseGet(() -> cached(board));
            }

            /** The target with what the board's profile says about its cache of instructions, unless the target itself says something. */
            private static Board cached(Board board) {
                OptionalInt size = board.loopBudget();
                OptionalInt line = board.loopLineBytes();
                boolean isSaid = TargetText.words(board.target()).stream()
                        .anyMatch(word -> word.text().startsWith("-" + InstructionCache.SIZE));
                if (size.isEmpty() || isSaid || !InstructionCache.isPossible(size.getAsInt(), line.getAsInt())) {
                    return board;
                }
                return board.withTarget(board.target() + " -" + InstructionCache.SIZE + "=" + size.getAsInt() + " -"
                        + InstructionCache.LINE + "=" + line.getAsInt());
            }

            private static String host(String text, Board board) {
                String own = board.target();
                Target target = CompositeTarget.parse(text).host();
                if (!TargetText.HOST_KINDS.contains(target.kind().text())) {
                    throw Failure.TARGET.exception(
                            "the target is of kind " + target.kind().text() + ", which runs no model by itself",
                            PARAMETER,
                            "a target of kind " + TargetText.HOSTS + ", behind all others",
                            "Add the board's, as in " + target.kind().text() + ", " + TargetText.kind(own));
                }
                String stated = target.text();
                if (!core(stated).equals(core(own))) {
                    throw Failure.TARGET.exception(
                            "the target is for the core " + core(stated) + ", and the board " + board.id() + " has "
                                    + core(own),
                            PARAMETER,
                            "the core of the board, as in " + own,
                            "Give the kind alone, which takes the board's options: "
                                    + target.kind().text());
                }
                return stated;
            }

            /** The core without the extensions that are switched on or off. */
            private static String core(String target) {
                return TargetOptions.parse(target).cpu().replaceFirst("\\+.*", "");
            }
        }
    }

    /** Chooses between the toolchain that the build names, the one that its board names, and the default. */
    public static final class ToolchainChoice {
        private ToolchainChoice() {}

        /**
         * Name of the toolchain: the build's setting precedes the board's.
         *
         * @param asked the build's setting
         * @throws KilnException if the board requires another toolchain than the build names
         */
        public static String of(Optional<String> asked, Board board) {
            Optional<NamedToolchain> choice = board.building().toolchain();
            choice.filter(NamedToolchain::required)
                    .filter(only ->
                            asked.filter(name -> !name.equals(only.toolchain())).isPresent())
                    .ifPresent(only -> {
                        throw Failure.TOOL.exception(
                                "the board " + board.id() + " is built with toolchain " + only.toolchain()
                                        + " only, but the build asks for " + asked.get(),
                                only.where(),
                                "kiln.toolchain " + only.toolchain() + ", or none",
                                "A board of your own that extends it may name another: toolchain: " + asked.get());
                    });
            return asked.or(() -> choice.map(NamedToolchain::toolchain))
                    .orElseGet(() -> Toolchains.defaultFor(TargetOptions.parse(board.target())));
        }
    }
}
