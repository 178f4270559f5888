// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.compile.Frontends;
import io.kiln.compile.ReadOptions;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.ModelSource.OfVela;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.frontend.TfliteRounding;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import io.kiln.ir.op.call.EthosU;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.ir.type.TensorType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A model with the arithmetic that the build chooses, and with that of the other library of TensorFlow Lite.
 *
 * @param function what the image computes
 * @param rounding whose arithmetic it has
 * @param other reads the model with the other arithmetic
 */
public record RoundedModel(Function function, TfliteRounding rounding, Supplier<Function> other) {
    /** A model file as a build reads it. */
    public static RoundedModel of(ReadOptions reading, ModelSource source) {
        return of(read(reading, source), reading, source);
    }

    /** A model that was read already. */
    public static RoundedModel of(Function function, ReadOptions reading, ModelSource source) {
        TfliteRounding rounding = reading.rounding();
        return new RoundedModel(function, rounding, () -> read(reading.with(rounding.other()), source));
    }

    /** A model whose arithmetic the build does not choose. */
    public static RoundedModel alone(Function function) {
        return new RoundedModel(function, TfliteRounding.MICRO, () -> function);
    }

    private static Function read(ReadOptions reading, ModelSource source) {
        return Frontends.read(source.file(), source.name(), source.shapes(), reading);
    }

    /** The model with the other arithmetic; empty if that is the same. */
    Optional<Function> otherwise() {
        Function otherwise = other.get();
        boolean isSame = RelayPrinter.astext(otherwise).equals(RelayPrinter.astext(function));
        return isSame ? Optional.empty() : Optional.of(otherwise);
    }

    /** The model as it was before Vela: the interpreter can run it, and the image must answer as it does. */
    static final class OriginalModel {
        private OriginalModel() {}

        /** Its file, if Vela made the model in this build, or if the user names it. */
        static Optional<Path> file(ModelSource model, VerifySpec verify) {
            return model.vela().map(OfVela::original).or(verify::original);
        }

        /** Whether a model has parts that only an NPU computes. */
        static boolean isMissing(Function function) {
            return function.opaque()
                    .filter(binding -> binding.op() instanceof EthosU)
                    .isPresent();
        }

        /**
         * The original in place of what Vela made of it.
         *
         * @throws KilnException if it has other inputs or outputs, or parts for an NPU itself
         */
        static RoundedModel of(Function compiled, Path file, ReadOptions reading, ModelSource model) {
            Problems problems = new Problems(Failure.CONFIG);
            if (!Files.isRegularFile(file)) {
                problems.add("the file does not exist", file.toString(), "a model", "Correct kiln.npu.original");
                problems.throwIfAny();
            }
            ModelSource source = new ModelSource(file, model.name());
            RoundedModel original = RoundedModel.of(reading, source);
            if (isMissing(original.function())) {
                problems.add(
                        "Vela compiled it, too, so that the interpreter cannot run it",
                        file.toString(),
                        "the model that Vela was given",
                        "Correct kiln.npu.original");
            }
            compare("inputs", inputs(compiled), inputs(original.function()), file, problems);
            compare("outputs", outputs(compiled), outputs(original.function()), file, problems);
            problems.throwIfAny();
            return original;
        }

        private static void compare(
                String what, List<TensorType> compiled, List<TensorType> original, Path file, Problems problems) {
            if (!compiled.equals(original)) {
                problems.add(
                        "its " + what + " are " + texts(original) + ", and those of the compiled model are "
                                + texts(compiled),
                        file.toString(),
                        "the model that Vela was given",
                        "Correct kiln.npu.original");
            }
        }

        private static List<TensorType> inputs(Function function) {
            return function.params().stream().map(Parameter::type).toList();
        }

        private static List<TensorType> outputs(Function function) {
            Map<Integer, TensorType> types = function.types();
            return function.results().stream().map(Result::id).map(types::get).toList();
        }

        private static List<String> texts(List<TensorType> types) {
            return types.stream().map(TensorType::text).toList();
        }
    }
}
