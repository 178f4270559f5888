// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.artifact.ModelIdentity;
import io.kiln.base.Optimize;
import io.kiln.base.Problem;
import io.kiln.base.incremental.Fingerprint.NoInput;
import io.kiln.compile.CallOptions;
import io.kiln.compile.CompileOptions;
import io.kiln.compile.CompileRequest.ModelInput;
import io.kiln.compile.Frontends;
import io.kiln.device.transport.SessionLimits;
import io.kiln.firmware.app.DefaultApplication.Application;
import io.kiln.flow.spec.CompilerSpec.CodegenSpec;
import io.kiln.flow.spec.CompilerSpec.QuantizeSpec;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.InputValues;
import io.kiln.frontend.ReadLimits;
import io.kiln.preprocess.Preprocessing;
import io.kiln.report.NpuReport.VelaRun;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Board.Memory;
import io.kiln.toolchain.board.Boards;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The user's request for a build.
 *
 * @param layout input and output paths
 * @param models the models that go into the image, in the order given
 * @param machine what the image is for
 * @param compiler how models become C
 * @param archive how the archive of the models is written
 * @param image what is linked with the models, and how the image runs
 * @param malformed parameters whose text cannot be parsed; they are reported with all other errors of the build
 */
public record BuildSpec(
        @NoInput(because = "where inputs and outputs lie; what lies there is an input of its own")
        Layout layout,

        List<ModelSource> models,
        MachineSpec machine,
        CompilerSpec compiler,

        @NoInput(of = "verify", because = "an image does not hold the archive")
        ArchiveSpec archive,

        ImageSpec image,
        List<Problem> malformed) {
    public BuildSpec {
        models = List.copyOf(models);
        malformed = List.copyOf(malformed);
    }

    public String board() {
        return machine.board();
    }

    /** Id of the toolchain; empty for the board's default. */
    public Optional<String> toolchain() {
        return machine.toolchain();
    }

    /** How the image is updated in the field. */
    public UpdateSpec update() {
        return machine.update();
    }

    public Optimize optimize() {
        return compiler.options().optimize();
    }

    /** How programs call the models. */
    public CallOptions calls() {
        return compiler.options().calls();
    }

    /** What generates code. */
    public CodegenSpec codegens() {
        return compiler.codegens();
    }

    /** How float models are quantized first. */
    public QuantizeSpec quantize() {
        return compiler.quantize();
    }

    /** The compiler's options for a model of a board; files of models are no larger than for one without memories, which is this computer. */
    public CompileOptions options(Board board) {
        long memories = board.memories().stream().mapToLong(Memory::size).sum();
        return options(memories == 0 ? ReadLimits.hostBytes() : Math.min(memories, ReadLimits.hostBytes()));
    }

    /** The compiler's options for a model of a board that is unknown or this computer. */
    public CompileOptions options() {
        return options(ReadLimits.hostBytes());
    }

    private CompileOptions options(long boardBytes) {
        CompileOptions options = compiler.options();
        return options.with(options.reading().within(boardBytes));
    }

    /** The application of the image if the project has no {@code main} of its own. */
    public Application application() {
        return image.options().application();
    }

    /** Whether an image in QEMU may open files and start programs on this computer. */
    public boolean semihosting() {
        return image.semihosting();
    }

    /** How the image is verified. */
    public VerifySpec verify() {
        return image.verify();
    }

    /** The farm that runs the image; empty for this computer. */
    public Optional<FarmUse> farm() {
        return image.farm();
    }

    /** The same build of one of its models alone. */
    public BuildSpec of(ModelSource model) {
        return new BuildSpec(layout, List.of(model), machine, compiler, archive, image, malformed);
    }

    public BuildSpec with(Layout other) {
        return new BuildSpec(other, models, machine, compiler, archive, image, malformed);
    }

    /** How Vela made models in this build, by their names. */
    public Map<String, VelaRun> velaRuns() {
        return models.stream()
                .filter(model -> model.vela().isPresent())
                .collect(Collectors.toMap(
                        ModelSource::name, model -> model.vela().orElseThrow().run()));
    }

    public BuildSpec with(List<ModelSource> others) {
        return new BuildSpec(layout, others, machine, compiler, archive, image, malformed);
    }

    public BuildSpec with(MachineSpec other) {
        return new BuildSpec(layout, models, other, compiler, archive, image, malformed);
    }

    public BuildSpec with(CompilerSpec other) {
        return new BuildSpec(layout, models, machine, other, archive, image, malformed);
    }

    public BuildSpec with(ImageSpec other) {
        return new BuildSpec(layout, models, machine, compiler, archive, other, malformed);
    }

    public Boards boards() {
        return machine.boardSources().boards(layout.userBoards());
    }

    /**
     * What the user says about a model's inputs.
     *
     * @param shapes shapes, {@code name:1,96,96,1;…}; empty for the file's
     * @param values values that make inputs constants, {@code name=16000;…}; empty for none
     * @param signature key of the signature whose inputs they are, or several with commas between; empty for the first subgraph
     */
    public record GivenInputs(String shapes, String values, String signature) {
        public static final GivenInputs NONE = new GivenInputs("", "");

        /** Inputs of the first subgraph. */
        public GivenInputs(String shapes, String values) {
            this(shapes, values, "");
        }

        /** What parameters say; those that are not set are null. */
        public static GivenInputs of(String shapes, String values, String signature) {
            return new GivenInputs(
                    Objects.requireNonNullElse(shapes, ""),
                    Objects.requireNonNullElse(values, ""),
                    Objects.requireNonNullElse(signature, ""));
        }

        /** The same, with another's shapes, values or signature where these have none. */
        public GivenInputs or(GivenInputs other) {
            return new GivenInputs(
                    shapes.isBlank() ? other.shapes : shapes,
                    values.isBlank() ? other.values : values,
                    signature.isBlank() ? other.signature : signature);
        }

        /** The parameter that says something, the first of several. */
        public String parameter() {
            return !shapes.isBlank() ? "inputShapes" : values.isBlank() ? "signature" : "inputValues";
        }

        public InputShapes parsed() {
            return InputShapes.parse(shapes).with(InputValues.parse(values)).ofSignature(signature);
        }
    }

    /**
     * One model file.
     *
     * @param name module name, as in {@code tvmgen_<name>_run}
     * @param inputs shapes and values of its inputs
     * @param version its version, for programs; empty if it has none
     * @param preprocess the signal processing before it; empty for the file beside it, if there is one
     * @param vectors folder of the test vectors that came with it
     * @param vela how Vela made the file in this build; empty if the file is the user's
     */
    public record ModelSource(
            Path file,
            String name,
            GivenInputs inputs,
            String version,
            Optional<Path> preprocess,

            @NoInput(of = "generate", because = "vectors are compared with the image's answers")
            Optional<Path> vectors,

            Optional<OfVela> vela) {
        /**
         * What Vela made of a model.
         *
         * @param original the model
         * @param run the version that ran, its options and what it said
         */
        public record OfVela(Path original, VelaRun run) {}

        /** A model as the user has it. */
        public ModelSource(
                Path file,
                String name,
                GivenInputs inputs,
                String version,
                Optional<Path> preprocess,
                Optional<Path> vectors) {
            this(file, name, inputs, version, preprocess, vectors, Optional.empty());
        }

        /** A model without a version. */
        public ModelSource(Path file, String name, String inputShapes) {
            this(file, name, new GivenInputs(inputShapes, ""), "", Optional.empty(), Optional.empty());
        }

        /** A model with the shapes of its file. */
        public ModelSource(Path file, String name) {
            this(file, name, "");
        }

        /** The models that it is: for each of several signatures one, whose name ends with the signature's. */
        public List<ModelSource> bySignature() {
            List<String> keys = Stream.of(inputs.signature().split(",", -1))
                    .map(String::strip)
                    .filter(key -> !key.isEmpty())
                    .toList();
            return keys.size() < 2
                    ? List.of(this)
                    : keys.stream().map(this::ofSignature).toList();
        }

        private ModelSource ofSignature(String key) {
            GivenInputs own = new GivenInputs(inputs.shapes(), inputs.values(), key);
            String called = name + "_" + key.replaceAll("[^A-Za-z0-9_]", "_");
            return new ModelSource(file, called, own, version, preprocess, vectors, vela);
        }

        /**
         * The same model in a version.
         *
         * @param described the signal processing before it; empty for its own
         */
        public ModelSource in(String newVersion, Optional<Path> described) {
            return new ModelSource(file, name, inputs, newVersion, described.or(() -> preprocess), vectors, vela);
        }

        /**
         * The same model after Vela.
         *
         * @param made the file that Vela made of it
         */
        public ModelSource by(VelaRun run, Path made) {
            return new ModelSource(
                    made, name, inputs, version, preprocessing(), vectors, Optional.of(new OfVela(file, run)));
        }

        /** The file that describes the signal processing before it; empty if there is none. */
        public Optional<Path> preprocessing() {
            return preprocess.or(() -> Preprocessing.beside(file));
        }

        /** The files beside it that it is read with: of signal processing and of constants; they need not exist. */
        public List<Path> companions(ReadLimits limits) {
            return Stream.concat(preprocessing().stream(), Frontends.parameters(file, limits).stream())
                    .toList();
        }

        /** The inputs' shapes and values, parsed. */
        public InputShapes shapes() {
            return inputs.parsed();
        }

        /** The model as the compiler takes it. */
        public ModelInput input() {
            return new ModelInput(file, name, ModelIdentity.of(file, version), shapes());
        }
    }

    /**
     * How an image is verified.
     *
     * @param on where
     * @param vectors folder of {@code input_<k>.bin} and optional {@code output_<k>.bin}; empty for those that came with the models
     * @param samples number of seeded random cases, 0 or more
     * @param seed their seed
     * @param program how long the project's own program, if there is one, runs in the emulator under observation; zero
     * skips it
     * @param line how the image is addressed
     * @param original the model before it was compiled for an NPU, whose answers are expected
     */
    public record VerifySpec(
            VerifyOn on,
            Optional<Path> vectors,
            int samples,
            long seed,
            Duration program,
            Line line,
            Optional<Path> original) {
        /** How long a program is observed by default. */
        public static final Duration USUAL_PROGRAM = Duration.ofSeconds(2);

        /** The image holds the default application, and the project's own program is observed for the default time. */
        public VerifySpec(VerifyOn on, Optional<Path> vectors, int samples, long seed) {
            this(on, vectors, samples, seed, USUAL_PROGRAM, VerifyOver.CONSOLE, Optional.empty());
        }

        /** Sessions take as long as they usually may. */
        public VerifySpec(
                VerifyOn on,
                Optional<Path> vectors,
                int samples,
                long seed,
                Duration program,
                VerifyOver over,
                Optional<Path> original) {
            this(on, vectors, samples, seed, program, new Line(over, SessionLimits.USUAL), original);
        }

        /**
         * How an image is addressed.
         *
         * @param over the protocol
         * @param limits how long sessions over RPC may take
         */
        public record Line(VerifyOver over, SessionLimits limits) {}

        /** The protocol in which the image is addressed. */
        public VerifyOver over() {
            return line.over;
        }

        /** How long sessions over RPC may take. */
        public SessionLimits limits() {
            return line.limits;
        }

        public VerifySpec with(VerifyOver protocol) {
            return new VerifySpec(on, vectors, samples, seed, program, new Line(protocol, line.limits), original);
        }
    }

    /**
     * Folders and files of a build.
     *
     * @param project the project's folder with {@code src/main}
     * @param out the output folder
     * @param base name of the image's files without extension
     */
    public record Layout(Path project, Path out, String base) {
        /** Folder of the generated C and the archive. */
        public Path generated() {
            return out.resolve("generated-sources").resolve("kiln");
        }

        public Path firmware() {
            return out.resolve("firmware");
        }

        /** Folder of the user's own C. */
        public Path userSources() {
            return project.resolve("src").resolve("main").resolve("c");
        }

        /** Folder of the tests of the program from outside. */
        public Path programTests() {
            return project.resolve("src").resolve("test").resolve("firmware");
        }

        /** Folder of the unit tests in C. */
        public Path unitTests() {
            return project.resolve("src").resolve("test").resolve("c");
        }

        /** The test plan, unless another one is named; need not exist. */
        public Path plan() {
            return project.resolve("src").resolve("test").resolve("plan.yaml");
        }

        /** Folder of the project's own boards. */
        public Path userBoards() {
            return project.resolve("src").resolve("main").resolve("boards");
        }

        /** The records that {@code kiln:tune} writes for a board. */
        public Path tuningRecords(String board) {
            return project.resolve("src").resolve("main").resolve("tuning").resolve(board + ".log");
        }

        /** The folder searched for a model if none is named. */
        public Path userModels() {
            return project.resolve("src").resolve("main").resolve("model");
        }

        /** Folder of the reports for other programs. */
        public Path reports() {
            return out.resolve("kiln");
        }

        public Path state(String step) {
            return reports().resolve("state").resolve(step + ".json");
        }

        /**
         * A file of a model that was quantized.
         *
         * @param model its name, if the build has several; empty for the only one
         */
        public Path quantized(Optional<String> model, String extension) {
            return reports().resolve("quantized" + model.map(name -> "-" + name).orElse("") + "." + extension);
        }

        /** Folder of the IR after each pass. */
        public Path ir() {
            return reports().resolve("ir");
        }

        /** {@code <base>.<extension>}. */
        public Path image(String extension) {
            return out.resolve(base + "." + extension);
        }

        public Path archive() {
            return out.resolve(base + "-mlf.tar");
        }
    }

    /** Where an image is verified, the value of {@code kiln.verify.on}. */
    public enum VerifyOn {
        /** In an emulator, or on this computer for the board {@code host}. */
        EMULATOR,
        /** On the board itself. */
        BOARD,
        NONE
    }

    /** The protocol by which a verified image is addressed, the value of {@code kiln.verify.over}. */
    public enum VerifyOver {
        /** The protocol of the default application. */
        CONSOLE,
        /** microTVM's RPC, for an image with its server. */
        RPC
    }

    /**
     * How the archive of the models is written.
     *
     * @param version version of the Model Library Format, 5 or 7
     * @param timestamp the time that it states; empty means a fixed date
     * @param slim whether it omits the constants' data
     */
    public record ArchiveSpec(int version, Optional<Instant> timestamp, boolean slim) {
        /** The newest version with a fixed date, complete. */
        public static final ArchiveSpec DEFAULT = new ArchiveSpec(7, Optional.empty(), false);
    }

    /**
     * The machine that an image is for: board, toolchain, and how it is updated.
     *
     * @param board id of the board
     * @param toolchain id of the toolchain, such as {@code clang}; empty for the board's default
     * @param boardSources where boards come from, beside those built in and the project's own
     * @param update how it is updated in the field
     */
    public record MachineSpec(
            @NoInput(because = "the board that was found by it is an input itself")
            String board,

            @NoInput(because = "generated C is the same for every compiler, and a verified image is an input itself")
            Optional<String> toolchain,

            @NoInput(because = "the board that was found in them is an input itself")
            BoardSources boardSources,

            @NoInput(because = "the linked image holds it, and a verified image is an input itself")
            UpdateSpec update) {}
}
