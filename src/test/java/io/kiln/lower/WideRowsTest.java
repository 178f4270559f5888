// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Optimize;
import io.kiln.codegen.c.LoopAnswer;
import io.kiln.codegen.c.LoopProgram;
import io.kiln.schedule.Dispatch;
import io.kiln.target.Target;
import io.kiln.target.TestTargets;
import io.kiln.tir.TirVerifier;
import java.nio.file.Path;
import java.util.IdentityHashMap;
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
        LoopProgram program = LoopProgram.checkingMemory();
        IdentityHashMap<ExpectedOutput, Integer> runs = new IdentityHashMap<>();
        Map<String, Integer> schedules = new TreeMap<>();
        int rings = 0;
        for (int seed = 0; seed < CASES; seed++) {
            Dispatch dispatch = new Dispatch(Target.parse(TARGETS.get(seed % TARGETS.size())), Optimize.SPEED);
            LoweringCase c = cases.apply(seed);
            LoweredOperator named = dispatch.lower(c.op(), Rows.named());
            RowRuns drawn = RowRuns.drawn(c, named, seed);
            RowRuns.InRings inRings = drawn.inRings(dispatch, seed, 1);
            for (LoweringRun run : List.of(drawn.inPlace(), inRings.run())) {
                TirVerifier.verify(run.run().function());
                runs.put(run.expected(), program.add(run.run()));
            }
            rings += inRings.hasRing() ? 1 : 0;
            schedules.merge(named.schedule().replaceAll("\\(.*", ""), 1, Integer::sum);
        }
        List<LoopAnswer> answers = program.run(folder);
        runs.forEach((expected, run) -> expected.check(answers.get(run)));
        return new Seen(rings, schedules);
    }
}
