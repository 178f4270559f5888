// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Random quantized models answer as in ONNX Runtime, bit for bit: in the interpreter, and their C on the host. */
class RandomModelsTest {
    private static final boolean IS_WHOLE = "all".equals(System.getProperty("kiln.onnx"));
    private static final int MODELS = IS_WHOLE ? 2000 : 140;
    private static final int NETWORKS = IS_WHOLE ? 100 : 12;
    private static final int SINGLES = IS_WHOLE ? 1200 : 48;

    /** Every so many models one becomes C as well. */
    private static final int COMPILED = 4;

    @TempDir
    private Path folder;

    private RuntimeComparison comparison;

    @BeforeEach
    void compare() {
        comparison = new RuntimeComparison(folder);
    }

    @Test
    void operatorsAnswerAsInOnnxRuntime() {
        for (int seed = 0; seed < MODELS; seed++) {
            comparison.add(seed, RandomModels.draw(seed), COMPILED);
        }
        comparison.assertAnswers();
    }

    @Test
    void networksAnswerAsInOnnxRuntime() {
        for (int seed = 0; seed < NETWORKS; seed++) {
            comparison.add(seed, new RandomModels.Model("network", RandomNetworks.draw(seed)), 1);
        }
        comparison.assertAnswers();
    }

    @Test
    void roundingsOfSinglePrecisionAreComputedInIntegers() {
        for (int seed = 0; seed < SINGLES; seed++) {
            comparison.add(seed, RandomSingles.draw(seed), IS_WHOLE ? COMPILED : 1);
        }
        comparison.assertNoFloats();
        comparison.assertAnswers();
    }
}
