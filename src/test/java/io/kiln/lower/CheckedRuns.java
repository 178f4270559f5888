// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.codegen.c.LoopAnswer;
import io.kiln.codegen.c.LoopProgram;
import io.kiln.schedule.Dispatch;
import io.kiln.tir.TirVerifier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs of lowered operators as one C program of this machine, each with what it must compute. */
public final class CheckedRuns {
    private final LoopProgram program;
    private final List<ExpectedOutput> expected = new ArrayList<>();
    private final List<Integer> numbers = new ArrayList<>();
    private int rings;

    public CheckedRuns(LoopProgram program) {
        this.program = program;
    }

    /** Adds a run, whose loops must be valid. */
    public void add(LoweringRun run) {
        TirVerifier.verify(run.run().function());
        expected.add(run.expected());
        numbers.add(program.add(run.run()));
    }

    /** Adds an operator by ranges of rows, in place and in rings; gives the schedule that it runs by. */
    String addRows(LoweringCase c, Dispatch dispatch, int seed) {
        LoweredOperator named = dispatch.lower(c.op(), Rows.named());
        RowRuns drawn = RowRuns.drawn(c, named, seed);
        RowRuns.InRings inRings = drawn.inRings(dispatch, seed, 1);
        add(drawn.inPlace());
        add(inRings.run());
        rings += inRings.hasRing() ? 1 : 0;
        return named.schedule();
    }

    /** Number of operators whose rows really lie in rings. */
    int rings() {
        return rings;
    }

    int size() {
        return expected.size();
    }

    /** Compiles and runs the program, and compares all answers. */
    public void check(Path folder) {
        List<LoopAnswer> answers = program.run(folder);
        for (int i = 0; i < expected.size(); i++) {
            expected.get(i).check(answers.get(numbers.get(i)));
        }
    }
}
