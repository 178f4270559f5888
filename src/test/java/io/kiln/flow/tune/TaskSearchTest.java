// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.TuneSpec;
import io.kiln.flow.spec.TuneSpec.Limits;
import io.kiln.flow.tune.CandidateMeasurer.Candidate;
import io.kiln.flow.tune.CandidateMeasurer.Measured;
import io.kiln.schedule.LayerChoices;
import io.kiln.target.Target;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.record.TuningRecord.MeasureError;
import io.kiln.tuning.task.LayerTask;
import io.kiln.tuning.task.Objective;
import io.kiln.tuning.task.Objective.Metric;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where the search for one layer ends. */
class TaskSearchTest {
    private static final String TARGET = "c -mcpu=cortex-m3";
    private static final LayerTask TASK = task();

    private static LayerTask task() {
        CompiledModel model = ModelCompiler.compile(
                RequestDraft.of(GestureProject.MODEL, TARGET).build());
        return LayerTask.of(
                        model.stages().get(model.stages().size() - 1).function(),
                        Target.parse(TARGET),
                        Optimize.SPEED,
                        Metric.INSTRUCTIONS,
                        LayerChoices.RULES)
                .get(0);
    }

    private static TaskSearch search(String tuner, String objective, Limits limits, List<TuningRecord> known) {
        return new TaskSearch(TASK, TuneSpec.of(tuner, Optional.of(objective), limits, 1, List.of(), false), known);
    }

    /** Measures until the end; the costs are 100 each but for that of one measurement, which is 50. */
    private static List<TuningRecord> run(TaskSearch search, int best) {
        List<TuningRecord> records = new ArrayList<>();
        for (List<Candidate> next = search.next(16); !next.isEmpty(); next = search.next(16)) {
            for (Candidate candidate : next) {
                double cost = records.size() == best ? 50 : 100;
                Measured measured =
                        new Measured(MeasureError.NONE, Map.of(Metric.INSTRUCTIONS, cost, Metric.SIZE, 1.0));
                search.update(candidate.configuration(), measured, Instant.EPOCH)
                        .ifPresent(records::add);
            }
        }
        return records;
    }

    @ParameterizedTest
    @ValueSource(strings = {"grid", "random", "ga", "xgb"})
    void aSearchEndsAfterJustAsManyMeasurementsAsItSays(String tuner) {
        TaskSearch early = search(tuner, "instructions", new Limits(100, 5, 60, 0), List.of());
        assertThat(early.eligible()).isGreaterThan(10);
        assertThat(run(early, 3)).hasSize(4 + 5);
        assertThat(early.isFinished()).isTrue();
        TaskSearch limited = search(tuner, "instructions", new Limits(7, 0, 60, 0), List.of());
        List<TuningRecord> seven = run(limited, 3);
        assertThat(seven).hasSize(7).doesNotHaveDuplicates();
        TaskSearch more = search(tuner, "instructions", new Limits(9, 0, 60, 0), seven);
        assertThat(run(more, 0)).hasSize(2).doesNotContainAnyElementsOf(seven);
        TaskSearch whole = search(tuner, "instructions", new Limits(10_000, 0, 60, 0), List.of());
        assertThat(run(whole, 3)).hasSize(whole.eligible()).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @ValueSource(strings = {"instructions", "instructions:1,size:0.5"})
    void withoutTrialsNotEvenTheChoiceOfTheRulesIsMeasured(String objective) {
        TaskSearch none = search("grid", objective, new Limits(0, 0, 60, 0), List.of());
        assertThat(none.next(16)).isEmpty();
        assertThat(none.isFinished()).isTrue();
    }

    @Test
    void anObjectiveThatNoBuildFollowsIsRefused() {
        for (Optimize optimize : Optimize.values()) {
            for (boolean isTimed : new boolean[] {true, false}) {
                TuneStep.requireFollowed(TuneSpec.usual(optimize, isTimed, false), optimize);
                TuneStep.requireFollowed(TuneSpec.usual(optimize, isTimed, true), optimize);
            }
            TuneStep.requireFollowed(Objective.parse("cycles:1,size:1"), optimize);
        }
        TuneStep.requireFollowed(Metric.RAM, Optimize.RAM);
        assertThatThrownBy(() -> TuneStep.requireFollowed(Metric.SIZE, Optimize.SPEED))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("builds with kiln.optimize=speed follow no records of size")
                .hasMessageContaining("one of [instructions, cycles, board-cycles, time], or several with weights")
                .hasMessageContaining("Set kiln.optimize=size");
    }

    @Test
    void theChoiceOfTheRulesIsMeasuredFirst() {
        TaskSearch search = search("random", "instructions", new Limits(10, 0, 60, 0), List.of());
        assertThat(search.next(16)).containsExactly(new Candidate(TASK, TASK.rule()));
    }
}
