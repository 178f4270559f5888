// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Optimize;
import io.kiln.codegen.c.LoopProgram;
import io.kiln.schedule.Dispatch;
import io.kiln.target.Target;
import io.kiln.target.TestTargets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Depthwise convolutions of int16 data and transposed ones by each core's kernels, by rows and in rings, as C on this machine. */
final class WideRowsTest {
    private static final int CASES = 150;

    private static final List<String> TARGETS =
            List.of(TestTargets.M55, TestTargets.M4, TestTargets.M3, TestTargets.M0, TestTargets.RV32);

    @TempDir
    private Path folder;

    @Test
    void rangesOfRowsInBuffersAndRingsComputeTheSameRows() {
        Seen seen = run(LoweringCase::ofWide);
        assertThat(seen.rings).isGreaterThan(CASES / 5);
        seen.hasEnough("mve_depthwise16", "dsp_depthwise16", "thumb_depthwise16", "depthwise16");
    }

    @Test
    void rangesOfRowsOfTransposedConvolutionsComputeTheSameRows() {
        run(LoweringCase::ofWideTransposed).hasEnough("mve_conv16", "dsp_conv16", "conv16");
    }

    @Test
    void rangesOfRowsOfTransposedConvolutionsOfOtherDataComputeTheSameRows() {
        run(LoweringCase::ofTransposed).hasEnough("conv_phases");
    }

    /** What was drawn. */
    private record Seen(int rings, Map<String, Integer> schedules) {
        void hasEnough(String... names) {
            assertThat(names)
                    .allSatisfy(name ->
                            assertThat(schedules.getOrDefault(name, 0)).as(name).isGreaterThan(CASES / 20));
        }
    }

    private Seen run(LongFunction<LoweringCase> cases) {
        CheckedRuns runs = new CheckedRuns(LoopProgram.checkingMemory());
        Map<String, Integer> schedules = new TreeMap<>();
        for (int seed = 0; seed < CASES; seed++) {
            Dispatch dispatch = new Dispatch(Target.parse(TARGETS.get(seed % TARGETS.size())), Optimize.SPEED);
            String schedule = runs.addRows(cases.apply(seed), dispatch, seed);
            schedules.merge(schedule.replaceAll("\\(.*", ""), 1, Integer::sum);
        }
        runs.check(folder);
        return new Seen(runs.rings(), schedules);
    }
}
