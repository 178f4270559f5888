// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.base.Optimize;
import io.kiln.reference.GoldenModels;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Every golden model in C on this machine under sanitizers, a share of them for each way to optimize; all of them with
 * {@code -Dkiln.golden=all}.
 */
class GoldenSetTest {
    private static final String DSP = "c -keys=arm_cpu,cpu -mcpu=cortex-m4";
    private static final int SHARES = 6;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"0, SPEED", "1, SIZE", "2, RAM"})
    void answersAsTheReferenceKernelsDo(int share, Optimize optimize) {
        List<String> models = GoldenModels.neededShare(share, SHARES);
        GoldenAnswers.check(folder, models, DSP, request -> request.optimize(optimize));
    }
}
