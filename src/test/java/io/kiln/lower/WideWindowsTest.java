// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.DType;
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
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Convolutions of int16 data by the kernels for whole windows, with and without their ends, as C on this machine. */
final class WideWindowsTest {
    private static final int CASES = 400;

    @TempDir
    private Path folder;

    private static Optional<Choice<?>> wholeWindows(FusedOperator op, Workload workload) {
        Configuration rule = LayerSchedules.choose(workload).configuration();
        return rule.schedule().equals("mve_conv16")
                ? LayerSchedules.choice(workload, rule.withFlag("whole_windows", true), "tested")
                : Optional.empty();
    }

    @Test
    void windowsAreComputedInOneCall() {
        Dispatch dispatch =
                new Dispatch(Target.parse(TestTargets.M55), Optimize.SPEED, List.of(), WideWindowsTest::wholeWindows);
        LoopProgram program = LoopProgram.checkingMemory();
        IdentityHashMap<ExpectedOutput, Integer> runs = new IdentityHashMap<>();
        int ended = 0;
        for (int seed = 0; seed < CASES; seed++) {
            if (RandomLayers.next(seed).params().get(0).type().dtype() != DType.INT16) {
                continue;
            }
            LoweringCase c = LoweringCase.ofLayers(seed);
            LoweredOperator lowered =
                    dispatch.lower(c.op(), Rows.whole(c.op().type().shape()));
            if (lowered.schedule().contains("whole_windows")) {
                TirVerifier.verify(lowered.function());
                LoweringRun run = c.whole(lowered);
                runs.put(run.expected(), program.add(run.run()));
                ended += lowered.function().toString().contains("kiln_mve_window16") ? 1 : 0;
            }
        }
        List<LoopAnswer> answers = program.run(folder);
        runs.forEach((expected, run) -> expected.check(answers.get(run)));
        assertThat(runs).hasSizeGreaterThan(CASES / 12);
        assertThat(ended).isGreaterThan(CASES / 80);
    }
}
