// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Verifier;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

@NeedsShared("golden")
class InterpreterGoldenTest {
    private static final Pattern LAYER = Pattern.compile("op(\\d+)_out0_t\\d+\\.bin");

    static final List<String> INTEGER = GoldenModels.INTEGER;
    static final List<String> SINGLE_OPERATORS = GoldenModels.SINGLE_OPERATORS;
    static final List<String> FLOAT = GoldenModels.FLOAT;

    @ParameterizedTest
    @FieldSource({"INTEGER", "SINGLE_OPERATORS"})
    void integerModelsAnswerBitForBit(String model) {
        Function function = TfliteFrontend.read(GoldenModels.model(model), "default");
        Verifier.verify(function);
        assertThat(GoldenModels.cases(model)).isNotEmpty();
        for (int k : GoldenModels.cases(model)) {
            Bytes answer = joined(Interpreter.run(function, GoldenModels.inputs(model, function, k)));
            assertThat(answer.toArray())
                    .as("case %d", k)
                    .isEqualTo(GoldenModels.output(model, k).toArray());
        }
    }

    @ParameterizedTest
    @FieldSource("INTEGER")
    void everyOperatorAnswersBitForBit(String model) {
        Function function = TfliteFrontend.read(GoldenModels.model(model), "default");
        Map<Integer, Bytes> values = Interpreter.runAll(function, GoldenModels.inputs(model, function, 1));
        Map<Integer, Integer> lastOfOperator = new HashMap<>();
        for (Binding binding : function.bindings()) {
            lastOfOperator.put(binding.origin().operatorIndex(), binding.id());
        }
        List<Path> layers = GoldenModels.layers(model);
        assertThat(layers).hasSize(lastOfOperator.size());
        for (Path layer : layers) {
            Matcher name = LAYER.matcher(layer.getFileName().toString());
            assertThat(name.matches()).isTrue();
            int id = lastOfOperator.get(Integer.parseInt(name.group(1)));
            assertThat(values.get(id).toArray())
                    .as(layer.getFileName().toString())
                    .isEqualTo(GoldenModels.read(layer).toArray());
        }
    }

    @ParameterizedTest
    @FieldSource("FLOAT")
    void floatModelsAnswerWithinTolerance(String model) {
        Function function = TfliteFrontend.read(GoldenModels.model(model), "default");
        Verifier.verify(function);
        assertThat(GoldenModels.cases(model)).isNotEmpty();
        for (int k : GoldenModels.cases(model)) {
            Bytes answer = joined(Interpreter.run(function, GoldenModels.inputs(model, function, k)));
            assertThat(GoldenModels.agree(GoldenModels.output(model, k), answer, GoldenModels.outputs(function)))
                    .as("case %d", k)
                    .isTrue();
        }
    }

    private static Bytes joined(List<Bytes> parts) {
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        parts.forEach(part -> joined.writeBytes(part.toArray()));
        return Bytes.wrap(joined.toByteArray());
    }
}
