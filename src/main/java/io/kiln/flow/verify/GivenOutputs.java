// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.frontend.TfliteRounding;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Compares the outputs of test vectors with what the reference interpreter computes. Where they differ, a model of TensorFlow Lite is computed
 * with the other library's arithmetic, too: perhaps the vector comes from there.
 */
final class GivenOutputs {
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
                                ? "; those with " + setting(rounded.rounding().other()) + " differ, too"
                                : ""),
                "Check that the vector comes from this model and, with TensorFlow Lite, from its reference kernels:"
                        + " other kernels round otherwise, see the page Operators. Without its output file it is an input"
                        + " only");
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
