// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Optimize;
import io.kiln.codegen.c.LoopAnswer;
import io.kiln.codegen.c.LoopProgram;
import io.kiln.schedule.Dispatch;
import io.kiln.schedule.LayerSchedules;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.Workload;
import io.kiln.target.Target;
import io.kiln.target.TestTargets;
import io.kiln.tir.TirVerifier;
import java.nio.file.Path;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
        assertThat(answers(dispatch))
                .hasEntrySatisfying("fpu_conv", count -> assertThat(count).isGreaterThan(CASES / 4))
                .hasEntrySatisfying("fpu_depthwise", count -> assertThat(count).isGreaterThan(CASES / 4));
    }

    @Test
    void kernelsForWholeWindowsComputeTheSameRows() {
        Dispatch dispatch =
                new Dispatch(Target.parse(TestTargets.M55), Optimize.SPEED, List.of(), FloatRowsTest::wholeWindows);
        assertThat(answers(dispatch))
                .hasEntrySatisfying(
                        "mve_conv_float whole_windows",
                        count -> assertThat(count).isGreaterThan(CASES / 4));
    }

    private static Optional<Choice<?>> wholeWindows(FusedOperator op, Workload workload) {
        Configuration rule = LayerSchedules.choose(workload).configuration();
        return rule.schedule().equals("mve_conv_float")
                ? LayerSchedules.choice(workload, rule.withFlag("whole_windows", true), "tested")
                : Optional.empty();
    }

    /** The schedules of layers that computed the right rows. */
    private Map<String, Integer> answers(Dispatch dispatch) {
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
            boolean isWhole = named.schedule().contains("whole_windows");
            String name = named.schedule().replaceAll("\\(.*", "");
            schedules.merge(isWhole ? name + " whole_windows" : name, 1, Integer::sum);
        }
        List<LoopAnswer> answers = program.run(folder);
        runs.forEach((expected, run) -> expected.check(answers.get(run)));
        assertThat(rings).isGreaterThan(CASES / 4);
        return schedules;
    }
}
