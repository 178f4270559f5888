// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.ReadLimits;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.frontend.tflite.single.Agreement;
import io.kiln.frontend.tflite.single.TfliteOracle;
import io.kiln.ir.Function;
import io.kiln.ir.Verifier;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The project's own models answer what TensorFlow Lite's reference kernels answer, and are good for a test. */
class OwnModelTest {
    /** In the arithmetic of TensorFlow Lite's library where that is not TensorFlow Lite Micro's. */
    @ParameterizedTest
    @EnumSource(OwnModel.class)
    void answersAsTheReferenceKernelsDo(OwnModel model) throws IOException {
        assumeTrue(
                TfliteOracle.missing().isEmpty(), () -> TfliteOracle.missing().orElseThrow());
        byte[] file = Files.readAllBytes(model.model());
        Function function = TfliteFrontend.read(
                model.model(),
                "default",
                InputShapes.NONE,
                CustomOperators.NONE,
                TfliteRounding.LITE,
                ReadLimits.STANDARD);
        Verifier.verify(function);
        DType dtype = function.types().get(function.results().get(0).id()).dtype();
        for (int k = 0; k < OwnModel.CASES; k++) {
            List<List<Bytes>> inputs = List.of(model.inputs(k));
            Bytes expected = TfliteOracle.runAll(file, inputs).get(0).get(0).data();
            Bytes actual = Interpreter.run(function, inputs.get(0)).get(0);
            assertThat(Agreement.differenceFromOracle(dtype, expected, actual))
                    .as("case %d", k)
                    .isEmpty();
        }
    }

    /** Wrong code would be seen: answers depend on the input and use their range. */
    @ParameterizedTest
    @EnumSource(OwnModel.class)
    void answersDiffer(OwnModel model) {
        List<Bytes> answers =
                IntStream.range(0, OwnModel.CASES).mapToObj(model::output).toList();
        assertThat(Set.copyOf(answers)).hasSize(OwnModel.CASES);
    }

    /** No layer's values vanish or saturate. */
    @ParameterizedTest
    @EnumSource(OwnModel.class)
    void noLayerIsIdle(OwnModel model) {
        Function function = model.read();
        List<Integer> used = new ArrayList<>();
        Interpreter.runAll(function, model.inputs(1)).forEach((id, value) -> {
            byte[] bytes = value.toArray();
            int distinct = (int) IntStream.range(0, bytes.length)
                    .map(i -> bytes[i])
                    .distinct()
                    .count();
            assertThat(distinct)
                    .as("value %d of %d bytes", id, bytes.length)
                    .isGreaterThan(Math.min(bytes.length / 5, 30));
            used.add(distinct);
        });
        assertThat(used).isNotEmpty();
    }
}
