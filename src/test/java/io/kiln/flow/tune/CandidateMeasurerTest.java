// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.cycles.core.CoreTables;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.emulator.FunctionCounter.CallsCounter;
import io.kiln.flow.GestureProject;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.resolve.Resolver;
import io.kiln.flow.spec.TuneSpec;
import io.kiln.flow.tune.CandidateMeasurer.Candidate;
import io.kiln.flow.tune.CandidateMeasurer.CandidateRunner;
import io.kiln.flow.tune.CandidateMeasurer.CandidateRunner.CandidateImage;
import io.kiln.flow.tune.CandidateMeasurer.CandidateRunner.CandidateRuns;
import io.kiln.flow.tune.CandidateMeasurer.EmulatorRunner;
import io.kiln.flow.tune.CandidateMeasurer.EmulatorRunner.FlashWaits;
import io.kiln.flow.tune.CandidateMeasurer.Measured;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.process.TestPrograms;
import io.kiln.schedule.LayerChoices;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.Workload;
import io.kiln.target.Target;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.record.TuningRecord.MeasureError;
import io.kiln.tuning.task.LayerTask;
import io.kiln.tuning.task.Objective.Metric;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Candidates in the real emulator: a planted better knob wins, a planted wrong kernel never does. */
class CandidateMeasurerTest {
    @TempDir
    private Path folder;

    @BeforeEach
    void needsAnEmulator() {
        TestPrograms.need("qemu-system-arm");
    }

    private static CompiledModel model(ResolvedBuild build) {
        return ModelCompiler.compile(
                RequestDraft.of(GestureProject.MODEL, build.target()).build());
    }

    /** The first layer of a model. */
    private static LayerTask task(ResolvedBuild build, CompiledModel model) {
        return LayerTask.of(
                        model.stages().get(model.stages().size() - 1).function(),
                        Target.parse(build.target()),
                        Optimize.SPEED,
                        Metric.INSTRUCTIONS,
                        LayerChoices.RULES)
                .get(0);
    }

    /** The layer computed without its bias, which the reference adds. */
    private static LayerTask wrong(LayerTask task) {
        FusedOperator op = task.op();
        FusedOperator.Tail tail = new FusedOperator.Tail(Optional.empty(), op.requantization(), op.clip());
        FusedOperator other =
                new FusedOperator(op.name(), op.root(), op.rootTypes(), tail, op.output(), op.type(), op.op());
        Workload right = task.workload();
        Workload workload = new Workload(ConvComputation.of(other), right.rows(), right.features(), right.optimize());
        return new LayerTask(task.model(), other, workload, task.key(), task.space(), task.rule());
    }

    private static LayerTask withRule(LayerTask task, Configuration rule) {
        return new LayerTask(task.model(), task.op(), task.workload(), task.key(), task.space(), rule);
    }

    @Test
    void theBestIsFoundAndWrongAnswersAreNeverChosen() {
        ResolvedBuild build = resolved();
        CompiledModel model = model(build);
        LayerTask task = task(build, model);
        Configuration slow = Configuration.parse("conv_direct(channel_block=1, unroll=1)");
        assertThat(task.space().configurations()).contains(slow);
        TuneSpec spec = TuneSpec.of(
                "grid",
                Optional.of("instructions:1,ram:0.001"),
                new TuneSpec.Limits(100, 0, 60, 0),
                0,
                List.of(),
                false);
        TaskSearch search = new TaskSearch(withRule(task, slow), spec, List.of());
        LayerTask broken = wrong(task);
        List<Measured> measured = measured(
                build,
                model,
                List.of(
                        new Candidate(broken, task.rule()),
                        new Candidate(task, slow),
                        new Candidate(task, task.rule()),
                        new Candidate(broken, slow)));

        Configuration other = task.space().configurations().stream()
                .filter(c -> !c.equals(slow) && !c.equals(task.rule()))
                .findFirst()
                .orElseThrow();
        search.update(slow, measured.get(1), Instant.EPOCH);
        search.update(task.rule(), measured.get(2), Instant.EPOCH);
        TuningRecord failed =
                search.update(other, measured.get(0), Instant.EPOCH).orElseThrow();
        assertThat(failed.line()).contains("\"result\": [[1000000000.0], 5, 0.0, 0.0]");
        assertThat(search.wrong()).isEqualTo(1);
        assertThat(search.winner()).contains(task.rule());
        assertThat(search.best().getAsDouble()).isLessThan(search.before().getAsDouble());
    }

    /**
     * A runner whose images have time for some candidates.
     *
     * @param most how many
     */
    private record Hasty(int most) implements CandidateRunner {
        @Override
        public Set<Metric> metrics() {
            return Set.of(Metric.INSTRUCTIONS);
        }

        @Override
        public CandidateRuns run(CandidateImage image) {
            int done = Math.min(most, image.functions().size());
            return new CandidateRuns(
                    Collections.nCopies(done, new CandidateRuns.Run(0, Map.of(Metric.INSTRUCTIONS, 1.0))),
                    done < image.functions().size() ? Optional.of(MeasureError.RUN_TIMEOUT) : Optional.empty());
        }
    }

    /** It is not the fault of a candidate that those before it took the image's time. */
    @Test
    void whatAnImageHasNoTimeForIsMeasuredInAnother() {
        ResolvedBuild build = resolved();
        CompiledModel model = model(build);
        LayerTask task = task(build, model);
        List<Candidate> candidates = Collections.nCopies(3, new Candidate(task, task.rule()));
        assertThat(errors(build, model, candidates, new Hasty(2)))
                .containsExactly(MeasureError.NONE, MeasureError.NONE, MeasureError.NONE);
        assertThat(errors(build, model, candidates, new Hasty(0)))
                .containsExactly(MeasureError.RUN_TIMEOUT, MeasureError.RUN_TIMEOUT, MeasureError.RUN_TIMEOUT);
    }

    private List<MeasureError> errors(
            ResolvedBuild build, CompiledModel model, List<Candidate> candidates, CandidateRunner runner) {
        Board board = build.runsOn().orElseThrow();
        return new CandidateMeasurer(build, runner, board, model.library().metadata(), folder.resolve("hasty"), 7)
                .measure(candidates).stream().map(Measured::error).toList();
    }

    /** The same candidates, as a board with five wait states and small caches would run them, and one whose flash waits for nothing. */
    @Test
    void cyclesOfABoardHaveTheWaitsOfItsFlash() {
        ResolvedBuild build = resolved();
        CompiledModel model = model(build);
        LayerTask task = task(build, model);
        List<Candidate> candidates = List.of(
                new Candidate(task, task.rule()),
                new Candidate(task, Configuration.parse("conv_direct(channel_block=1, unroll=1)")));
        Board runsOn = build.runsOn().orElseThrow();
        assertThat(FlashWaits.of(runsOn, runsOn)).isEmpty();
        EmulatorRunner runner = new EmulatorRunner(
                CallsCounter.in(Emulator.of(runsOn, Duration.ofMinutes(1))),
                CoreTables.find("cortex-m4"),
                FlashWaits.of(Boards.builtIn().find("nucleo-l4r5zi"), runsOn));
        assertThat(runner.metrics()).contains(Metric.BOARD_CYCLES);
        List<Measured> measured = new CandidateMeasurer(
                        build, runner, runsOn, model.library().metadata(), folder.resolve("waiting"), 7)
                .measure(candidates);
        for (Measured one : measured) {
            double free = one.metrics().get(Metric.CYCLES);
            assertThat(one.metrics().get(Metric.BOARD_CYCLES)).isBetween(1.01 * free, 5 * free);
        }
    }

    private ResolvedBuild resolved() {
        return new Resolver(TestToolchains.environment(Log.QUIET))
                .resolve(new GestureProject(folder)
                        .spec("mps2-an386")
                        .verify(GestureProject.UNVERIFIED)
                        .build());
    }

    /** Measures twice, with the same result. */
    private List<Measured> measured(ResolvedBuild build, CompiledModel model, List<Candidate> candidates) {
        Board board = build.runsOn().orElseThrow();
        EmulatorRunner runner =
                new EmulatorRunner(Emulator.of(board, Duration.ofMinutes(1)), CoreTables.find("cortex-m4"));
        CandidateMeasurer measurer = new CandidateMeasurer(
                build, runner, board, model.library().metadata(), folder.resolve("candidates"), 7);
        List<Measured> measured = measurer.measure(candidates);
        assertThat(measured)
                .extracting(Measured::error)
                .containsExactly(
                        MeasureError.WRONG_ANSWER, MeasureError.NONE, MeasureError.NONE, MeasureError.WRONG_ANSWER);
        assertThat(measurer.measure(candidates)).isEqualTo(measured);
        for (Measured right : measured.subList(1, 3)) {
            double instructions = right.metrics().get(Metric.INSTRUCTIONS);
            assertThat(right.metrics().get(Metric.CYCLES)).isBetween(instructions, 2 * instructions);
        }
        assertThat(measured.get(1).metrics().get(Metric.CYCLES))
                .isGreaterThan(measured.get(2).metrics().get(Metric.CYCLES));
        return measured;
    }
}
