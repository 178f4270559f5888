// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Optimize;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.TuneSpec;
import io.kiln.flow.tune.CandidateMeasurer.Measured;
import io.kiln.schedule.LayerChoices;
import io.kiln.schedule.space.Configuration;
import io.kiln.target.Target;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.record.TuningRecord.MeasureError;
import io.kiln.tuning.record.TuningRecord.Result;
import io.kiln.tuning.task.LayerTask;
import io.kiln.tuning.task.Objective.Metric;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** A search learns from the records of another core before its first measurement. */
class TransferAcrossCoresTest {
    private static final int SEEDS = 10;

    private static LayerTask dense(String core) {
        String target = "c -keys=arm_cpu,cpu -mcpu=" + core;
        CompiledModel model = ModelCompiler.compile(
                RequestDraft.of(GestureProject.MODEL, target).build());
        return LayerTask.of(
                        model.stages().get(model.stages().size() - 1).function(),
                        Target.parse(target),
                        Optimize.SPEED,
                        Metric.INSTRUCTIONS,
                        LayerChoices.RULES)
                .stream()
                .filter(task -> task.key().template().startsWith("kiln.dense."))
                .findFirst()
                .orElseThrow();
    }

    /** A cost with its least value at three channels and four steps of plain loops. */
    private static double cost(Configuration configuration) {
        return configuration.schedule().equals("conv_direct")
                ? 100
                        + 10 * Math.abs(configuration.number("channel_block") - 3)
                        + 5 * (4 - configuration.number("unroll"))
                : 500;
    }

    private static TuningRecord record(LayerTask task, Configuration configuration) {
        Result result = new Result(List.of(cost(configuration) * 1e-9), MeasureError.NONE, 0, 0);
        return TuningRecord.of(task.key(), task.space().config(configuration), result);
    }

    /** Number of measurements until the best is found. */
    private static int trials(LayerTask task, long seed, List<TuningRecord> records) {
        double least = task.space().configurations().stream()
                .mapToDouble(TransferAcrossCoresTest::cost)
                .min()
                .orElseThrow();
        TuneSpec spec = TuneSpec.of(
                "xgb", Optional.of("instructions"), new TuneSpec.Limits(1000, 0, 60, 0), seed, List.of(), false);
        TaskSearch search = new TaskSearch(task, spec, records);
        for (int trials = 1; ; trials++) {
            Configuration next = search.next(1).get(0).configuration();
            if (cost(next) == least) {
                return trials;
            }
            search.update(
                    next, new Measured(MeasureError.NONE, Map.of(Metric.INSTRUCTIONS, cost(next))), Instant.EPOCH);
        }
    }

    private static double mean(LayerTask task, List<TuningRecord> records) {
        return LongStream.range(0, SEEDS)
                .mapToInt(seed -> trials(task, seed, records))
                .average()
                .orElseThrow();
    }

    @Test
    void recordsOfAnotherCoreLeadToTheBest() {
        LayerTask other = dense("cortex-m3");
        List<TuningRecord> records = other.space().configurations().stream()
                .map(configuration -> record(other, configuration))
                .toList();
        LayerTask task = dense("cortex-m4");
        assertThat(task.key().template()).isNotEqualTo(other.key().template());
        assertThat(mean(task, records)).isLessThanOrEqualTo(mean(task, List.of()) / 2);
    }
}
