// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import io.kiln.base.Failure;
import io.kiln.base.GitLfs;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.compile.Frontends;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.ir.Binding;
import io.kiln.ir.op.call.EthosU;
import io.kiln.npu.DriverPayload;
import io.kiln.partition.ethosu.EthosUCodegen;
import io.kiln.target.CompositeTarget;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;

/** Whether models that Vela compiled are for the NPU of the board: a file for another one is refused before anything is generated. */
public final class NpuFit {
    private NpuFit() {}

    /** What does not fit; whatever else is wrong with a model is said when it is compiled. */
    static List<Problem> problems(ResolvedBuild build) {
        return build.spec().models().stream()
                .filter(model -> isVelas(model) && GitLfs.pointer(model.file()).isEmpty())
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
