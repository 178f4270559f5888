// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.OperatorInfo;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.flow.GestureProject;
import io.kiln.schedule.LayerChoices;
import io.kiln.schedule.space.Configuration;
import io.kiln.target.Target;
import io.kiln.tuning.record.HistoryBest;
import io.kiln.tuning.record.RecordReader;
import io.kiln.tuning.record.RecordValue;
import io.kiln.tuning.record.RecordValue.Numeric;
import io.kiln.tuning.record.RecordValue.Text;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.record.TuningRecord.Config;
import io.kiln.tuning.record.TuningRecord.Entity;
import io.kiln.tuning.record.TuningRecord.MeasureError;
import io.kiln.tuning.record.TuningRecord.Result;
import io.kiln.tuning.record.TuningRecord.TaskKey;
import io.kiln.tuning.task.Objective.Metric;
import io.kiln.tuning.task.RecordedChoices.ForeignRecords;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The layers of a model as tasks, and the choice by records. */
class LayerTaskTest {
    private static final List<String> TARGETS =
            List.of("c -mcpu=cortex-m4 -model=a", "c -mcpu=cortex-m55", "c -mcpu=cortex-m3", "c -march=rv32imac");

    private static CompiledModel compiled(String target, HistoryBest records) {
        return ModelCompiler.compile(
                RequestDraft.of(GestureProject.MODEL, target).records(records).build());
    }

    private static List<LayerTask> tasks(String target) {
        CompiledModel model = compiled(target, HistoryBest.NONE);
        return LayerTask.of(
                model.stages().get(model.stages().size() - 1).function(),
                Target.parse(target),
                Optimize.SPEED,
                Metric.INSTRUCTIONS,
                LayerChoices.RULES);
    }

    private static TuningRecord measured(LayerTask task, Config config, double cost) {
        return TuningRecord.of(task.key(), config, new Result(List.of(cost), MeasureError.NONE, 0, 0));
    }

    @Test
    void indicesAndRecordsLeadBackToEachConfiguration() {
        for (String target : TARGETS) {
            for (LayerTask task : tasks(target)) {
                TaskSpace space = task.space();
                assertThat(space.configurations()).contains(task.rule()).doesNotHaveDuplicates();
                HashSet<Long> indices = new HashSet<>();
                for (Configuration configuration : space.configurations()) {
                    Config config = space.config(configuration);
                    assertThat(config.index()).isBetween(0L, space.range() - 1);
                    assertThat(indices.add(config.index())).isTrue();
                    assertThat(space.find(config)).contains(configuration);
                    long rest = config.index();
                    int[] point = space.point(configuration);
                    for (int knob = 0; knob < point.length; knob++) {
                        assertThat(point[knob])
                                .isEqualTo((int) (rest % space.dimensions().get(knob)));
                        rest /= space.dimensions().get(knob);
                    }
                }
                assertThat(task.lower(task.rule()).schedule())
                        .isEqualTo(task.rule().text());
            }
        }
    }

    @Test
    void keysNameEverythingThatAConfigurationDependsOn() {
        TaskKey key = tasks(TARGETS.get(0)).get(0).key();
        assertThat(key.template()).isEqualTo("kiln.conv2d.cortex-m4");
        assertThat(key.model()).contains("a");
        assertThat(key.workload())
                .matches("\"kiln.conv2d.cortex-m4\", \\[\\[\"TENSOR\", \\[1, .*\\], \"int8\"\\], \\[\"TENSOR\", .*\\],"
                        + " \"int8\"\\], \\[\\d+, \\d+\\], \\[\\d+, \\d+, \\d+, \\d+\\], \\[1, 1\\], 1, \"int8\","
                        + " \"qnn.conv2d\\+.*\", \"speed\", \"instructions\"\\]");
    }

    @Test
    void buildsFollowTheBestRecordOfALayer() {
        LayerTask task = tasks(TARGETS.get(0)).get(0);
        List<Configuration> others = new ArrayList<>(task.space().configurations());
        others.remove(task.rule());
        Configuration chosen = others.get(others.size() - 1);
        HistoryBest records = new HistoryBest(List.of(
                measured(task, task.space().config(task.rule()), 2e-6),
                measured(task, task.space().config(chosen), 1.5e-6)));
        CompiledModel model = compiled(TARGETS.get(0), records);
        assertThat(model.unfitRecords()).isEmpty();
        assertThat(model.library().metadata().operators())
                .filteredOn(operator -> operator.reason().startsWith("record"))
                .isNotEmpty()
                .allSatisfy(operator -> {
                    assertThat(operator.schedule()).isEqualTo(chosen.text());
                    assertThat(operator.reason())
                            .isEqualTo("record: the best that was measured, 1,500 instructions a call");
                });
    }

    @Test
    void recordsThatNoLongerFitAreNamedAndTheRulesChoose() {
        LayerTask task = tasks(TARGETS.get(0)).get(0);
        Config config = task.space().config(task.rule());
        List<Entity> entities = new ArrayList<>(config.entities());
        entities.add(Entity.other("abandoned_knob", Numeric.of(3)));
        HistoryBest records = new HistoryBest(List.of(measured(task, new Config(77, entities), 1e-9)));
        CompiledModel model = compiled(TARGETS.get(0), records);
        assertThat(model.unfitRecords())
                .singleElement()
                .satisfies(unfit -> assertThat(unfit).contains("no longer fits: index 77 of kiln.conv2d.cortex-m4"));
        assertThat(model.library().artifacts())
                .isEqualTo(compiled(TARGETS.get(0), HistoryBest.NONE).library().artifacts());
    }

    /** A cost of a mix is a sum of weights, not a count. */
    @Test
    void recordsOfAMixSayItsCost() {
        LayerTask task = tasks(TARGETS.get(0)).get(0);
        Objective mix = Objective.parse("instructions:1,size:0.2");
        List<RecordValue> args = new ArrayList<>(task.key().args());
        args.set(args.size() - 1, new Text(mix.text()));
        TaskKey key = new TaskKey(task.key().target(), task.key().template(), args);
        Config config = task.space().config(task.rule());
        TuningRecord record = TuningRecord.of(key, config, new Result(List.of(1.113e-9), MeasureError.NONE, 0, 0));
        assertThat(reasons(record)).contains("record: the best that was measured, 1.113 by instructions:1.0,size:0.2");
        args.set(args.size() - 1, new Text("instructions:1.0,charm:2"));
        TaskKey later = new TaskKey(task.key().target(), task.key().template(), args);
        assertThat(reasons(TuningRecord.of(later, config, record.result())))
                .noneMatch(reason -> reason.startsWith("record"));
    }

    private static List<String> reasons(TuningRecord record) {
        return compiled(TARGETS.get(0), new HistoryBest(List.of(record))).library().metadata().operators().stream()
                .map(OperatorInfo::reason)
                .toList();
    }

    @Test
    void costsAreShownInTheirUnits() {
        assertThat(Metric.SIZE.cost(2500e-9)).isEqualTo("2,500 bytes of code and constants");
        assertThat(Metric.RAM.cost(64e-9)).isEqualTo("64 bytes of scratch");
        assertThat(Metric.TIME.cost(1.5e-6)).isEqualTo("1.500 us a call");
        assertThat(Metric.CYCLES.cost(1.5e-6)).isEqualTo("1,500 cycles a call");
    }

    /** As a user who merged a log of TVM's is told. */
    @Test
    void recordsOfOtherTemplatesAreNamed() {
        LayerTask task = tasks(TARGETS.get(0)).get(0);
        TuningRecord own = measured(task, task.space().config(task.rule()), 1e-6);
        assertThat(ForeignRecords.said(List.of(own), "x.log")).isEmpty();
        List<TuningRecord> all = Stream.concat(
                        Stream.of(own),
                        Stream.of("a.cpu", "b.cpu", "a.cpu", "c.cpu", "d.cpu")
                                .map(name -> TuningRecord.of(
                                        new TaskKey("c", name, List.of()),
                                        new Config(0, List.of()),
                                        new Result(List.of(1.0), MeasureError.NONE, 0, 0))))
                .toList();
        assertThat(ForeignRecords.said(all, "x.log"))
                .contains("5 of the 6 records in x.log choose nothing, because their templates do not exist in Kiln: "
                        + "a.cpu, b.cpu, c.cpu and 1 more");
    }

    @Test
    void examplesAreSeeded() {
        LayerTask task = tasks(TARGETS.get(0)).get(0);
        assertThat(task.example(3)).isEqualTo(task.example(3)).isNotEqualTo(task.example(4));
        assertThat(task.example(3).answer().size())
                .isEqualTo((int) task.op().type().bytes());
    }

    @Test
    void objectivesAreReadAndMixed() {
        assertThat(Objective.parse("cycles")).isEqualTo(Metric.CYCLES);
        assertThat(Objective.parse("board-cycles")).isEqualTo(Metric.BOARD_CYCLES);
        assertThat(Metric.BOARD_CYCLES.cost(5699e-9)).isEqualTo("5,699 board cycles a call");
        assertThat(Objective.parse("instructions:1, size:0.25"))
                .isEqualTo(new Objective.Mix(Map.of(Metric.INSTRUCTIONS, 1.0, Metric.SIZE, 0.25)));
        for (String bad : List.of("", "speed", "size:0", "size:1,size:2", "size:1,ram", "ram:Infinity")) {
            assertThatThrownBy(() -> Objective.parse(bad))
                    .as(bad)
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("kiln.tune.objective");
        }
    }

    @Test
    void recordsOfATaskReadBackEqual() {
        LayerTask task = tasks(TARGETS.get(0)).get(0);
        TuningRecord record = measured(task, task.space().config(task.rule()), 1.5e-6);
        assertThat(RecordReader.parse(record.line() + "\n", "x").records()).containsExactly(record);
    }
}
