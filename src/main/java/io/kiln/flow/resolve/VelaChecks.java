// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import io.kiln.base.Problems;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.npu.NpuConfiguration;
import io.kiln.partition.ethosu.EthosUCodegen;
import io.kiln.target.CompositeTarget;
import java.util.Optional;

/** Checks a build that asks for Vela, before anything runs. */
final class VelaChecks {
    private VelaChecks() {}

    /** Adds all that is wrong. */
    static void check(ResolvedBuild build, Problems problems) {
        build.spec().codegens().vela().ifPresent(vela -> {
            checkNpu(build, vela.configuration(), problems);
            checkModels(build.spec(), problems);
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

    private static void checkModels(BuildSpec spec, Problems problems) {
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
}
