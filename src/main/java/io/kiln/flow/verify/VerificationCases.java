// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.flow.verify.TestCases.TestCase;
import io.kiln.frontend.TfliteRounding;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.op.call.CustomCall;
import io.kiln.reference.Interpreter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The cases of one model with their expected answers: from the reference interpreter, or, for a model that it cannot
 * run, from the test vectors.
 *
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

    /**
     * Compares the outputs of test vectors with what the reference interpreter computes. Where they differ, a model of TensorFlow Lite is computed
     * with the other library's arithmetic, too: perhaps the vector comes from there.
     */
    private static final class GivenOutputs {
        private final ModelMetadata model;
        private final RoundedModel rounded;
        private final Problems problems = new Problems(Failure.VERIFY);

        /** The model with the other arithmetic, which is read at the first difference. */
        private Optional<Optional<Function>> otherwise = Optional.empty();

        GivenOutputs(ModelMetadata model, RoundedModel rounded) {
            this.model = model;
            this.rounded = rounded;
        }

        /** The differences that were found. */
        Problems problems() {
            return problems;
        }

        /** Compares the outputs of a case, if it has any, with an answer. */
        void compare(TestCase each, List<Bytes> answer) {
            each.givenOutputs().ifPresent(given -> {
                Comparison comparison = Comparison.of(model.outputs(), unlimited(given, answer), answer);
                if (comparison.mismatches() > 0) {
                    report(each, comparison, isExplained(each, given));
                }
            });
        }

        private boolean isExplained(TestCase each, List<Bytes> given) {
            if (otherwise.isEmpty()) {
                otherwise = Optional.of(rounded.otherwise());
            }
            return otherwise
                    .get()
                    .map(function -> Interpreter.run(function, each.inputs()))
                    .filter(answer -> Comparison.of(model.outputs(), unlimited(given, answer), answer)
                                    .mismatches()
                            == 0)
                    .isPresent();
        }

        /**
         * Outputs to compare with an answer. TensorFlow Lite's kernels limit what is infinite to the largest float; such a vector
         * agrees with an infinite answer.
         */
        private List<Bytes> unlimited(List<Bytes> given, List<Bytes> answer) {
            List<Bytes> outputs = new ArrayList<>();
            for (int i = 0; i < given.size(); i++) {
                boolean isFloat = model.outputs().get(i).dtype().isFloat();
                outputs.add(isFloat ? unlimited(given.get(i), answer.get(i)) : given.get(i));
            }
            return outputs;
        }

        private static Bytes unlimited(Bytes given, Bytes answer) {
            ByteBuffer values = ByteBuffer.wrap(given.toArray()).order(ByteOrder.LITTLE_ENDIAN);
            for (int at = 0; at < values.capacity(); at += Float.BYTES) {
                float infinite = answer.buffer().getFloat(at);
                if (Float.isInfinite(infinite) && values.getFloat(at) == Math.copySign(Float.MAX_VALUE, infinite)) {
                    values.putFloat(at, infinite);
                }
            }
            return Bytes.wrap(values.array());
        }

        private void report(TestCase each, Comparison comparison, boolean isExplained) {
            String where = "model " + model.name() + ", " + each.name();
            String difference = comparison.mismatches() + " of " + comparison.outputs() + " differ, at most by "
                    + number(comparison.maxAbsDiff()) + ", first " + comparison.first();
            if (isExplained) {
                String other = setting(rounded.rounding().other());
                problems.add(
                        "the outputs of the test vector are the model's with " + other + ", but this build has "
                                + setting(rounded.rounding()) + ": " + difference,
                        where,
                        "the outputs of " + library(rounded.rounding()),
                        "Set " + other + " to build a model that answers as "
                                + library(rounded.rounding().other()) + ", or make the vector with "
                                + library(rounded.rounding()));
                return;
            }
            boolean hasOther = otherwise.flatMap(other -> other).isPresent();
            problems.add(
                    "the outputs of the test vector and of the model differ: " + difference,
                    where,
                    "the outputs of Kiln's reference interpreter, " + setting(rounded.rounding())
                            + (hasOther
                                    ? "; those with "
                                            + setting(rounded.rounding().other()) + " differ, too"
                                    : ""),
                    "Check that the vector comes from this model and, with TensorFlow Lite, from its reference"
                            + " kernels: other kernels round otherwise, see the page Operators. Without its output file it"
                            + " is an input only");
        }

        private static String setting(TfliteRounding rounding) {
            return TfliteRounding.PROPERTY + "=" + rounding.text();
        }

        private static String library(TfliteRounding rounding) {
            return rounding == TfliteRounding.LITE ? "TensorFlow Lite's reference kernels" : "TensorFlow Lite Micro";
        }

        private static String number(double value) {
            return value == Math.rint(value) && Math.abs(value) < Integer.MAX_VALUE
                    ? Integer.toString((int) value)
                    : Double.toString(value);
        }
    }
}
