// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Optimize;
import io.kiln.codegen.c.LoopProgram;
import io.kiln.schedule.Dispatch;
import io.kiln.target.Target;
import io.kiln.target.TestTargets;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Convolutions of float data by the kernels for a floating-point unit, by rows and in rings, as C on this machine. */
class FloatRowsTest {
    private static final int CASES = 120;
    private static final int GROUPED_CASES = 60;

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
        assertThat(answers(WholeWindows.in("mve_conv_float")))
                .hasEntrySatisfying(
                        "mve_conv_float whole_windows",
                        count -> assertThat(count).isGreaterThan(CASES / 4));
    }

    @ParameterizedTest
    @ValueSource(strings = {TestTargets.M3, TestTargets.M0, TestTargets.RV32})
    void kernelsWithoutFloatingPointUnitComputeTheSameRows(String target) {
        Dispatch dispatch = new Dispatch(Target.parse(target), Optimize.SPEED);
        assertThat(answers(dispatch))
                .hasEntrySatisfying("soft_conv", count -> assertThat(count).isGreaterThan(CASES / 4))
                .hasEntrySatisfying("soft_depthwise", count -> assertThat(count).isGreaterThan(CASES / 8));
    }

    @ParameterizedTest
    @ValueSource(strings = {TestTargets.M3, TestTargets.M0, TestTargets.RV32})
    void theSameKernelsComputeGroups(String target) {
        Dispatch dispatch = new Dispatch(Target.parse(target), Optimize.SPEED);
        assertThat(answers(dispatch, LoweringCase::ofGroupedFloats, GROUPED_CASES))
                .hasEntrySatisfying("soft_conv", count -> assertThat(count).isGreaterThan(GROUPED_CASES / 2));
    }

    /** The schedules of layers that computed the right rows. */
    private Map<String, Integer> answers(Dispatch dispatch) {
        return answers(dispatch, LoweringCase::ofFloats, CASES);
    }

    private Map<String, Integer> answers(Dispatch dispatch, LongFunction<LoweringCase> drawn, int cases) {
        CheckedRuns runs = new CheckedRuns(LoopProgram.checkingMemory());
        Map<String, Integer> schedules = new TreeMap<>();
        for (int seed = 0; seed < cases; seed++) {
            String schedule = runs.addRows(drawn.apply(seed), dispatch, seed);
            boolean isWhole = schedule.contains(WholeWindows.FLAG);
            String name = schedule.replaceAll("\\(.*", "");
            schedules.merge(isWhole ? name + " " + WholeWindows.FLAG : name, 1, Integer::sum);
        }
        runs.check(folder);
        assertThat(runs.rings()).isGreaterThan(cases / 4);
        return schedules;
    }
}
