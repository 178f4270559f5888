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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Convolutions of float data by the kernels for a floating-point unit, by rows and in rings, as C on this machine. */
class FloatRowsTest {
    private static final int CASES = 120;

    @TempDir
    private Path folder;

    @Test
    void rangesOfRowsInBuffersAndRingsComputeTheSameRows() {
        Dispatch dispatch = new Dispatch(Target.parse(TestTargets.M4), Optimize.SPEED);
        LoopProgram program = LoopProgram.checkingMemory();
        IdentityHashMap<ExpectedOutput, Integer> runs = new IdentityHashMap<>();
        Map<String, Integer> schedules = new TreeMap<>();
        int rings = 0;
        for (int seed = 0; seed < CASES; seed++) {
            LoweringCase c = LoweringCase.ofFloats(seed);
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
        assertThat(rings).isGreaterThan(CASES / 4);
        assertThat(schedules)
                .hasEntrySatisfying("fpu_conv", count -> assertThat(count).isGreaterThan(CASES / 4));
        assertThat(schedules)
                .hasEntrySatisfying("fpu_depthwise", count -> assertThat(count).isGreaterThan(CASES / 4));
    }
}
