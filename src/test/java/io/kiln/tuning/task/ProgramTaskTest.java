// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.task;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Optimize;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.flow.GestureProject;
import io.kiln.stream.PlanChoice;
import io.kiln.stream.PlanChoice.Blocks;
import io.kiln.stream.Program.PlannedProgram;
import io.kiln.stream.StreamPlanner;
import io.kiln.target.Target;
import io.kiln.tuning.record.HistoryBest;
import io.kiln.tuning.record.RecordReader;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.record.TuningRecord.Config;
import io.kiln.tuning.record.TuningRecord.MeasureError;
import io.kiln.tuning.record.TuningRecord.Result;
import io.kiln.tuning.record.TuningRecord.TaskKey;
import io.kiln.tuning.task.Objective.Metric;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Records of whole models plan them, in builds as in the search. */
class ProgramTaskTest {
    private static final String TARGET = "c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=bench";
    private static final PlanChoice WHOLE = new PlanChoice(PlanChoice.Order.FUNCTION, Blocks.WHOLE, 100);

    private static CompiledModel compiled(List<TuningRecord> records) {
        return ModelCompiler.compile(RequestDraft.of(GestureProject.MODEL, TARGET)
                .name("gesture")
                .records(new HistoryBest(records))
                .build());
    }

    private static TaskKey key(CompiledModel model) {
        return new ProgramTask(
                        model.program().orElseThrow().function(), Target.parse(TARGET), Optimize.SPEED, Io.CALLER)
                .key(Metric.CYCLES);
    }

    private static TuningRecord record(TaskKey key, Config config) {
        return TuningRecord.of(key, config, new Result(List.of(1e-6), MeasureError.NONE, 0, 0));
    }

    @Test
    void eachChoiceSurvivesARecord() {
        List<PlanChoice> all = PlanChoice.all();
        assertThat(all).doesNotHaveDuplicates().hasSize(2 * (1 + 6 * 7));
        assertThat(all.stream().map(ProgramTask::config).map(Config::index)).doesNotHaveDuplicates();
        for (PlanChoice choice : all) {
            TuningRecord record = record(new TaskKey("c", "kiln.program.m", List.of()), ProgramTask.config(choice));
            TuningRecord read =
                    RecordReader.parse(record.line(), "log").records().get(0);
            assertThat(ProgramTask.choice(read.config())).contains(choice);
        }
    }

    @Test
    void aBuildFollowsTheRecord() {
        CompiledModel usual = compiled(List.of());
        Map<PlanChoice, PlannedProgram> plans =
                StreamPlanner.plans(usual.program().orElseThrow());
        assertThat(plans).hasSizeGreaterThan(1).containsKey(WHOLE);
        assertThat(plans.values()).filteredOn(usual.module().planned()::runsAs).hasSize(1);
        for (PlanChoice choice : plans.keySet()) {
            CompiledModel chosen = compiled(List.of(record(key(usual), ProgramTask.config(choice))));
            assertThat(chosen.module().planned().runsAs(plans.get(choice))).isTrue();
            assertThat(chosen.unfitRecords()).isEmpty();
            assertThat(chosen.choices().recorded()).contains(choice);
        }
    }

    @Test
    void aRecordThatNoLongerFitsIsNamed() {
        CompiledModel usual = compiled(List.of());
        Config other = new Config(0, ProgramTask.config(WHOLE).entities().subList(0, 2));
        CompiledModel unfit = compiled(List.of(record(key(usual), other)));
        assertThat(unfit.unfitRecords()).containsExactly("the record of program gesture no longer fits");
        assertThat(unfit.module().planned().runsAs(usual.module().planned())).isTrue();
    }
}
