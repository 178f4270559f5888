// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.fit;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.flow.GestureProject;
import io.kiln.flow.fit.FitRun.FitFrame;
import io.kiln.flow.fit.FitRun.FitImage;
import io.kiln.flow.fit.FitRun.FitWay;
import io.kiln.flow.fit.FitStep.FitMeasurer;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.resolve.Resolver;
import io.kiln.process.TestPrograms;
import io.kiln.report.ProfileReport;
import io.kiln.schedule.LayerGoal;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.tuning.fit.EveryChoice;
import io.kiln.tuning.fit.FitSearch.FitLimits;
import io.kiln.tuning.fit.FitTable;
import io.kiln.tuning.fit.FitTable.FitCost;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Every night: the search against all mixes of goals of the example model, each built and run in the real emulator. */
@EnabledIfSystemProperty(named = "kiln.golden", matches = "all")
class EveryMixTest {
    /** Limits of flash between the smallest and the largest image. */
    private static final int STEPS = 6;

    @TempDir
    private Path folder;

    @BeforeEach
    void needsAnEmulator() {
        TestPrograms.need("qemu-system-arm");
    }

    /** Layers hardly depend on each other, so that tables tell the cycles of mixes, and no mix is much faster than the one that is taken. */
    @Test
    void noMixIsMuchFasterThanTheOneThatIsTaken() {
        ResolvedBuild build = new Resolver(TestToolchains.environment(Log.QUIET))
                .resolve(new GestureProject(folder)
                        .spec("mps2-an386")
                        .verify(GestureProject.UNVERIFIED)
                        .build());
        FitMeasurer images = new FitMeasurer(build, folder.resolve("fit"));
        FitFrame frame = new FitFrame(Optimize.SIZE, Optimize.SIZE);
        Set<String> layers = images.measured(FitWay.of(Optimize.SPEED)).orElseThrow().operators().stream()
                .map(ProfileReport.Operator::name)
                .collect(Collectors.toSet());
        Map<LayerGoal, FitImage> ofGoals = new EnumMap<>(LayerGoal.class);
        for (LayerGoal goal : LayerGoal.values()) {
            ofGoals.put(goal, images.measured(frame.all(goal, layers)).orElseThrow());
        }
        FitTable table = FitFrame.table(ofGoals);
        List<List<Integer>> choices = EveryChoice.of(table);
        List<FitCost> costs = choices.stream()
                .map(choice -> images.measured(frame.mixed(table.goals(choice)))
                        .orElseThrow()
                        .cost())
                .toList();
        assertThat(choices).hasSizeGreaterThan(8);
        for (int i = 0; i < choices.size(); i++) {
            FitCost promised = table.cost(choices.get(i));
            assertThat((double) promised.cycles() / costs.get(i).cycles())
                    .as("cycles of %s", table.goals(choices.get(i)))
                    .isBetween(0.97, 1.03);
        }
        long least = costs.stream().mapToLong(FitCost::flash).min().orElseThrow();
        long most = costs.stream().mapToLong(FitCost::flash).max().orElseThrow();
        for (int step = 0; step <= STEPS; step++) {
            FitLimits limits =
                    new FitLimits(OptionalLong.of(least + (most - least) * step / STEPS), OptionalLong.empty());
            long best = costs.stream()
                    .filter(limits::allow)
                    .mapToLong(FitCost::cycles)
                    .min()
                    .orElseThrow();
            FitWay taken = new FitRun(Log.QUIET, images, limits).fastest().orElseThrow();
            long cycles = images.all().get(taken).cost().cycles();
            assertThat((double) cycles / best).as("%s", limits).isLessThan(1.02);
        }
    }
}
