// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.DType;
import io.kiln.codegen.c.LoopProgram;
import io.kiln.draw.RandomLayers;
import io.kiln.ir.Function;
import io.kiln.schedule.Dispatch;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Convolutions of int16 data by the kernels for whole windows, with and without their ends, as C on this machine. */
final class WideWindowsTest {
    private static final int CASES = 400;

    @TempDir
    private Path folder;

    @Test
    void windowsAreComputedInOneCall() {
        Dispatch dispatch = WholeWindows.in("mve_conv16");
        CheckedRuns runs = new CheckedRuns(LoopProgram.checkingMemory());
        int ended = 0;
        for (int seed = 0; seed < CASES; seed++) {
            Function layer = RandomLayers.next(seed);
            if (layer.params().get(0).type().dtype() != DType.INT16) {
                continue;
            }
            LoweringCase c = LoweringCase.of(layer, seed);
            LoweredOperator lowered =
                    dispatch.lower(c.op(), Rows.whole(c.op().type().shape()));
            if (lowered.schedule().contains(WholeWindows.FLAG)) {
                runs.add(c.whole(lowered));
                ended += lowered.function().toString().contains("kiln_mve_window16") ? 1 : 0;
            }
        }
        runs.check(folder);
        assertThat(runs.size()).isGreaterThan(CASES / 12);
        assertThat(ended).isGreaterThan(CASES / 80);
    }
}
