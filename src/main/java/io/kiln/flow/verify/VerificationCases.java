// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.Problems;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.op.call.CustomCall;
import io.kiln.reference.Interpreter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The cases of one model with their expected answers: from the reference interpreter, or, for a model that it cannot
 * run, from the test vectors.
 *
 * @param model the model
 * @param cases the inputs
 * @param expected the expected outputs, one entry for each case
 */
public record VerificationCases(ModelMetadata model, List<TestCase> cases, List<List<Bytes>> expected) {
    public VerificationCases {
        cases = List.copyOf(cases);
        expected = List.copyOf(expected);
    }

    /**
     * Reads vectors, makes random cases and computes the expected answers with the reference interpreter.
     *
     * @param rounded what the image computes
     * @param vectors where test vectors lie, and how many random cases there are
     * @param hears gets a problem if a model calls the user's C, so that only vectors can tell its answers, and there
     * are none
     * @throws io.kiln.base.KilnException if a vector has a wrong size or its outputs are not the reference's
     */
    public static VerificationCases of(ModelMetadata model, RoundedModel rounded, TestVectors vectors, Problems hears) {
        Function function = rounded.function();
        Optional<Binding> opaque = function.opaque();
        if (opaque.isPresent()) {
            return given(model, why(opaque.get()), vectors, hears);
        }
        List<TestCase> cases = new ArrayList<>();
        vectors.given(model.name())
                .filter(f -> !AudioCases.areAlone(f))
                .ifPresent(f -> cases.addAll(GivenCases.of(f, model)));
        long seed = vectors.spec().seed();
        cases.addAll(TestCases.withSpecialFloats(
                TestCases.random(vectors.spec().samples(), seed, model.inputs()),
                seed,
                model.inputs(),
                model.target()));
        List<List<Bytes>> expected = new ArrayList<>();
        GivenOutputs given = new GivenOutputs(model, rounded);
        for (TestCase each : cases) {
            List<Bytes> answer = Interpreter.run(function, each.inputs());
            expected.add(answer);
            given.compare(each, answer);
        }
        given.problems().throwIfAny();
        return new VerificationCases(model, cases, expected);
    }

    private static String why(Binding opaque) {
        return opaque.op() instanceof CustomCall custom
                ? "only the C function " + custom.function() + " knows the results of operator `" + custom.code() + "`"
                : "only an NPU knows the results of " + opaque.origin().text()
                        + ", and kiln.npu.original names no model as it was before Vela";
    }

    /**
     * Reads vectors of a model that the interpreter cannot run; their outputs are the expected answers.
     *
     * @param why why the interpreter cannot run it
     * @param problems gets models without vectors, and vectors without outputs
     */
    static VerificationCases given(ModelMetadata model, String why, TestVectors vectors, Problems problems) {
        Optional<Path> folder = vectors.folder(model.name());
        if (folder.filter(Files::isDirectory).isEmpty()) {
            problems.add(
                    "the expected outputs of model `" + model.name() + "` are unknown: " + why,
                    folder.map(Path::toString).orElse("kiln.verify.vectors"),
                    "test vectors with outputs: input_0.bin and output_0.bin, and so on",
                    "Set kiln.verify.vectors to their folder, or kiln.verify.on to none");
            return new VerificationCases(model, List.of(), List.of());
        }
        List<TestCase> cases = GivenCases.of(folder.get(), model);
        for (TestCase each : cases) {
            if (each.givenOutputs().isEmpty()) {
                problems.add(
                        "the test vector has no outputs, and those of model `" + model.name() + "` cannot be computed: "
                                + why,
                        folder.get() + ", " + each.name(),
                        each.name().replace("vector", "output") + ".bin",
                        "Add it, or delete the vector");
            }
        }
        return new VerificationCases(
                model,
                cases,
                cases.stream()
                        .map(each -> each.givenOutputs().orElse(List.of()))
                        .toList());
    }
}
