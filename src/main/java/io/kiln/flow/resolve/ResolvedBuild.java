// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import io.kiln.base.Failure;
import io.kiln.base.GitLfs;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.WholeFiles;
import io.kiln.base.incremental.Fingerprint.NoInput;
import io.kiln.compile.Frontends;
import io.kiln.firmware.SourceText;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.CompilerSpec.CodegenSpec;
import io.kiln.ir.Binding;
import io.kiln.ir.op.call.EthosU;
import io.kiln.npu.DriverPayload;
import io.kiln.partition.UserFunctions;
import io.kiln.partition.cmsisnn.CmsisNnCodegen;
import io.kiln.partition.ethosu.EthosUCodegen;
import io.kiln.target.CompositeTarget;
import io.kiln.target.Target;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.Toolchain;
import io.kiln.toolchain.compiler.Toolchain.ClangObjects;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A build whose board and toolchain are known.
 *
 * @param spec the user's request
 * @param runsOn the board that runs the image: itself or its stand-in; empty if nothing on this computer does
 * @param toolchain the compiler, resolved for the board's core
 * @param objects what makes the models' objects, if their target is of kind llvm
 */
public record ResolvedBuild(
        BuildSpec spec,
        Board board,

        @NoInput(of = "generate", because = "generated C is for the board itself")
        Optional<Board> runsOn,

        @NoInput(because = "generated C is the same for every compiler, and a verified image is an input itself")
        Toolchain toolchain,

        @NoInput(of = "verify", because = "a verified image is an input itself")
        Optional<ClangObjects> objects) {
    public ResolvedBuild with(BuildSpec otherSpec, Optional<Board> otherBoard) {
        return new ResolvedBuild(otherSpec, board, otherBoard, toolchain, objects);
    }

    /** The target string, with other code generators if there are any. */
    public String target() {
        CodegenSpec codegens = spec.codegens();
        // A kind alone has become the board's target.
        Optional<String> whole =
                codegens.target().filter(text -> codegens.kind().isEmpty());
        String text = whole.map(this::onBoard).orElse(board.compositeTarget());
        return text.equals(board.target()) && codegens.externals().isEmpty()
                ? text
                : CmsisNnTarget.of(codegens).versioned(text);
    }

    /** A target with the host's part that was chosen for the board. */
    private String onBoard(String text) {
        return CompositeTarget.parse(text)
                .withHost(Target.parse(board.target()))
                .text();
    }

    /**
     * The board that runs the image.
     *
     * @throws KilnException if nothing on this computer does
     */
    public Board requireRunsOn() {
        return runsOn.orElseThrow(() -> Failure.BOARD.exception(
                "nothing on this computer can run images of the board " + board.id(),
                board.origin(),
                "a board with an emulator or a stand-in",
                "kiln:boards shows what runs where"));
    }

    /**
     * The board that runs the project's own program, without what the project has in place of the board's.
     *
     * @throws KilnException as {@link #requireRunsOn} does
     */
    public Board requireRunsProgram() {
        Board runs = requireRunsOn();
        return hasStandIn() ? spec.image().code().own().withoutLinker().replaceIn(runs) : board;
    }

    /** Whether another board runs the image. */
    public boolean hasStandIn() {
        return runsOn.filter(other -> !other.id().equals(board.id())).isPresent();
    }

    /** Adds to a target the user's own functions, which take precedence, and the version of CMSIS-NN, as its header tells it. */
    record CmsisNnTarget(CodegenSpec codegens) {
        /** The parameters of the function that prepares fully connected layers: it got more of them over time. */
        private static final Pattern SUMS = Pattern.compile("arm_vector_sum_s8\\s*\\(([^)]*)\\)");

        private static final String BIAS_STRUCT = "cmsis_nn_bias_data";
        private static final int PARAMETERS_OF_7 = 7;

        static CmsisNnTarget of(CodegenSpec codegens) {
            return new CmsisNnTarget(codegens);
        }

        /** The target string, canonical if it is composite. */
        String versioned(String text) {
            CompositeTarget target = withUser(CompositeTarget.parse(text));
            Path header = codegens.cmsisNn()
                    .map(path -> path.resolve("Include").resolve("arm_nnfunctions.h"))
                    .orElse(Path.of(""));
            if (target.externals().isEmpty() || !Files.isRegularFile(header)) {
                return target.text();
            }
            String version = version(read(header));
            return target.withExternals(target.externals().stream()
                            .map(external -> external.name().equals(CmsisNnCodegen.NAME)
                                    ? external.withDefault("version", version)
                                    : external)
                            .toList())
                    .text();
        }

        private CompositeTarget withUser(CompositeTarget target) {
            boolean isNamed = target.externals().stream()
                    .anyMatch(external -> external.name().equals(UserFunctions.NAME));
            if (codegens.externals().isEmpty() || isNamed) {
                return target;
            }
            List<CompositeTarget.External> all = new ArrayList<>();
            all.add(new CompositeTarget.External(UserFunctions.NAME, new TreeMap<>()));
            all.addAll(target.externals());
            return target.withExternals(all);
        }

        /** The first version that declares what this header declares. */
        static String version(String header) {
            Matcher sums = SUMS.matcher(SourceText.withoutComments(header));
            int parameters = sums.find() ? sums.group(1).split(",", -1).length : 0;
            if (parameters >= PARAMETERS_OF_7) {
                return "7.0.0";
            }
            return header.contains(BIAS_STRUCT) ? "6.0.0" : parameters > 0 ? "5.0.0" : "4.1.0";
        }

        private static String read(Path header) {
            return WholeFiles.text(header, StandardCharsets.ISO_8859_1);
        }
    }

    /** Whether models that Vela compiled are for the NPU of the board: a file for another one is refused before anything is generated. */
    public static final class NpuFit {
        private NpuFit() {}

        /** What does not fit; whatever else is wrong with a model is said when it is compiled. */
        static List<Problem> problems(ResolvedBuild build) {
            return build.spec().models().stream()
                    .filter(model ->
                            isVelas(model) && GitLfs.pointer(model.file()).isEmpty())
                    .flatMap(model -> part(build, model).stream())
                    .flatMap(part -> problem(build, part).stream())
                    .toList();
        }

        /** Whether a model of the build has parts for an NPU. */
        public static boolean hasParts(ResolvedBuild build) {
            return build.spec().models().stream()
                    .anyMatch(model -> isVelas(model) && part(build, model).isPresent());
        }

        private static boolean isVelas(ModelSource model) {
            try {
                return model.file().toString().endsWith(".tflite")
                        && Files.isRegularFile(model.file())
                        && Files.readString(model.file(), StandardCharsets.ISO_8859_1)
                                .contains(EthosUCodegen.NAME);
            } catch (IOException | KilnException saidLater) {
                return false;
            }
        }

        private static Optional<Binding> part(ResolvedBuild build, ModelSource model) {
            try {
                return Frontends.read(
                                model.file(),
                                model.name(),
                                model.shapes(),
                                build.spec().options(build.board()).reading())
                        .opaque()
                        .filter(binding -> binding.op() instanceof EthosU);
            } catch (KilnException saidLater) {
                return Optional.empty();
            }
        }

        private static Optional<Problem> problem(ResolvedBuild build, Binding part) {
            String own = DriverPayload.read(
                            part.constant(((EthosU) part.op()).payload()).data(),
                            (what, expected) ->
                                    Failure.MODEL.exception(what, part.origin().text(), expected))
                    .configuration()
                    .name();
            Optional<CompositeTarget.External> npu = CompositeTarget.parse(build.target()).externals().stream()
                    .filter(external -> external.name().equals(EthosUCodegen.NAME))
                    .findFirst();
            String board = "board " + build.board().id();
            if (npu.isEmpty()) {
                return Optional.of(Failure.TARGET.problem(
                        "Vela compiled the model for an " + own + ", and the target has no NPU",
                        part.origin().text(),
                        "a board with the key `npu`, which " + board + " lacks",
                        "Choose another board, or build from the model as it was before Vela"));
            }
            String there = npu.get().option(EthosUCodegen.CONFIGURATION, own);
            return there.equals(own)
                    ? Optional.empty()
                    : Optional.of(Failure.TARGET.problem(
                            "Vela compiled the model for an " + own + ", and the NPU is an " + there,
                            part.origin().text() + ", " + board,
                            "a model for " + there,
                            "Run Vela with --accelerator-config " + there + ", or choose a board with an " + own));
        }
    }
}
