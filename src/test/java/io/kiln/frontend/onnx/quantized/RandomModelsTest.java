// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DrawnCases;
import io.kiln.frontend.onnx.OnnxDraw;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Random quantized models answer as in ONNX Runtime, bit for bit: in the interpreter, and their C on the host. */
class RandomModelsTest {
    private static final boolean IS_WHOLE = "all".equals(System.getProperty("kiln.onnx"));
    private static final int MODELS = DrawnCases.atLeast(IS_WHOLE ? 2000 : 140);
    private static final int NETWORKS = DrawnCases.atLeast(IS_WHOLE ? 100 : 12);
    private static final int SINGLES = DrawnCases.atLeast(IS_WHOLE ? 1200 : 48);
    private static final int FIRST = Integer.getInteger("kiln.seed", 0);

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
        for (int seed = FIRST; seed < FIRST + MODELS; seed++) {
            comparison.add(seed, RandomModels.draw(seed), COMPILED);
        }
        comparison.assertAnswers();
    }

    @Test
    void networksAnswerAsInOnnxRuntime() {
        for (int seed = FIRST; seed < FIRST + NETWORKS; seed++) {
            comparison.add(seed, RandomNetworks.draw(seed), 1);
        }
        comparison.assertAnswers();
    }

    @Test
    void layersWithARealBiasAreComputedInIntegers() {
        RuntimeComparison ofLayers = new RuntimeComparison(folder, true);
        for (int seed = FIRST; seed < FIRST + SINGLES; seed++) {
            ofLayers.add(seed, RandomRealBiases.draw(seed), IS_WHOLE ? COMPILED : 1);
        }
        ofLayers.assertNoFloats();
        ofLayers.assertAnswers();
    }

    @Test
    void layersWhoseChannelsHaveZeroPointsAreComputedInIntegers() {
        RuntimeComparison ofLayers = new RuntimeComparison(folder, true);
        for (int seed = FIRST; seed < FIRST + SINGLES; seed++) {
            OnnxDraw.Model model =
                    seed % 2 == 0 ? RandomFourBitLayers.draw(seed / 2) : RandomFourBitLayers.drawOfBytes(seed / 2);
            ofLayers.add(seed, model, IS_WHOLE ? COMPILED : 1);
        }
        ofLayers.assertNoFloats();
        ofLayers.assertAnswers();
    }

    @Test
    void interpolatedImagesAreComputedInIntegers() {
        for (int seed = FIRST; seed < FIRST + SINGLES; seed++) {
            comparison.add(seed, RandomResizes.draw(seed), IS_WHOLE ? COMPILED : 1);
        }
        comparison.assertNoFloats();
        comparison.assertAnswers();
    }

    @Test
    void roundingsOfSinglePrecisionAreComputedInIntegers() {
        for (int seed = FIRST; seed < FIRST + SINGLES; seed++) {
            comparison.add(seed, RandomSingles.draw(seed), IS_WHOLE ? COMPILED : 1);
        }
        comparison.assertNoFloats();
        comparison.assertAnswers();
    }
}
