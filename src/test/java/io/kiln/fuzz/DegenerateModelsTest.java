// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.frontend.tflite.single.SingleOperatorTest;
import io.kiln.ir.Verifier;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every dimension, option and parameter of every operator, one at a time, with values that divide by zero or overflow. */
class DegenerateModelsTest {
    private static final List<Bytes> MODELS =
            SingleOperatorTest.operators().map(operator -> operator.model(0)).toList();

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, 1 << 16})
    void areRefusedWithAMessageOrRead(int value) {
        List<String> failures = new ArrayList<>();
        for (int i = 0; i < MODELS.size(); i++) {
            List<Bytes> changed = new ArrayList<>(DegenerateModels.withEachDimension(MODELS.get(i), value));
            changed.addAll(DegenerateModels.withEachOption(MODELS.get(i), value));
            changed.addAll(DegenerateModels.withEachWord(MODELS.get(i), value));
            for (int k = 0; k < changed.size(); k++) {
                read(i + k, changed.get(k), "model " + i + ", change " + k, failures);
            }
        }
        assertThat(failures).isEmpty();
    }

    private static void read(long seed, Bytes model, String what, List<String> failures) {
        try {
            Verifier.verify(MutatedModel.read(seed, model, "degenerate"));
        } catch (KilnException e) {
            assertThat(e.problems())
                    .as(what)
                    .isNotEmpty()
                    .allSatisfy(p -> assertThat(p.what()).isNotBlank());
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
            failures.add(what + ": " + e + " at " + e.getStackTrace()[0]);
        }
    }
}
