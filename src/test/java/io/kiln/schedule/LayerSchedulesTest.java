// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Optimize;
import io.kiln.codegen.c.LoopProgram;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.layer.TransposedConvolutions.Conv2dTranspose;
import io.kiln.ir.op.layer.TransposedConvolutions.QnnConv2dTranspose;
import io.kiln.lower.CheckedRuns;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.LoweringCase;
import io.kiln.lower.LoweringRun;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ComputedWeightsLowering;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.ConvDirectSchedule;
import io.kiln.schedule.convolution.MveGemmSchedule;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Workload;
import io.kiln.target.Target;
import io.kiln.tir.TirVerifier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every schedule computes what the plain loops compute, in whatever configuration out of its space, and rules choose out of these spaces. */
class LayerSchedulesTest {
    private static final int CASES = 300;

    /** Convolutions of float data beside them. */
    private static final int FLOAT_CASES = 30;

    /** Layers with more padding than windows are large. */
    private static final int FAR_PADDED_CASES = 40;

    /** Dense layers of thousands of products. */
    private static final int DENSE_CASES = 6;

    /** Of large spaces so many configurations are drawn for a layer. */
    private static final int DRAWN = 3;

    private static final String CACHED = "c -mcpu=cortex-m4 -i-cache-size=1024";

    private static final List<String> TARGETS = List.of(
            "c -mcpu=cortex-m4",
            CACHED,
            "c -mcpu=cortex-m55",
            "c -mcpu=cortex-m3",
            "c -mcpu=cortex-m0",
            "c -march=rv32imac");

    private static final List<LoweringCase> LAYERS = layers();

    @TempDir
    private Path folder;

    private static boolean isLayer(LoweringCase c) {
        Op root = c.op().root().op();
        boolean isLayer = root instanceof Conv2d
                || root instanceof QnnConv2d
                || root instanceof Conv2dTranspose
                || root instanceof QnnConv2dTranspose
                || root instanceof Dense
                || root instanceof QnnDense;
        return isLayer && !ComputedWeightsLowering.suits(c.op());
    }

    private static List<LoweringCase> layers() {
        List<LoweringCase> layers = new ArrayList<>();
        for (long seed = 0; seed < CASES; seed++) {
            LoweringCase c = LoweringCase.of(seed);
            if (isLayer(c)) {
                layers.add(c);
            }
        }
        LongStream.range(0, FLOAT_CASES).mapToObj(LoweringCase::ofFloats).forEach(layers::add);
        LongStream.range(0, DENSE_CASES).mapToObj(LoweringCase::dense).forEach(layers::add);
        LongStream.range(0, DENSE_CASES).mapToObj(LoweringCase::denseOfFourBits).forEach(layers::add);
        LongStream.range(0, FAR_PADDED_CASES).mapToObj(LoweringCase::farPadded).forEach(layers::add);
        return List.copyOf(layers);
    }

    private static Workload workload(LoweringCase c, String target, Optimize optimize) {
        Rows rows = Rows.whole(c.op().type().shape());
        return new Workload(
                ConvComputation.of(c.op()), rows, Target.parse(target).features(), optimize);
    }

    /** Names of a window's copy are others than those of the loop over images. */
    @Test
    void twoImagesWithADilatedWindowHideNoNames() {
        LoweringCase c = LoweringCase.of(115_072);
        assertThat(c.op().type().shape().dim(0)).isEqualTo(2);
        Workload workload = workload(c, "c -mcpu=cortex-m3", Optimize.SPEED);
        assertThat(workload.conv().window().dilationW()).isEqualTo(2);
        Choice<?> choice = LayerSchedules.choose(workload);
        TirVerifier.verify(Dispatch.lower(c.op(), workload, choice).function());
    }

    /** Neither rules nor records nor searches choose code that is larger than the cache, where there is any that is not. */
    @Test
    void loopsFitTheCacheThatTheirCodeRunsThrough() {
        int refused = 0;
        int changed = 0;
        int unfit = 0;
        for (LoweringCase c : LAYERS) {
            Workload cached = workload(c, CACHED, Optimize.SPEED);
            Workload any = workload(c, "c -mcpu=cortex-m4", Optimize.SPEED);
            Configuration usual = LayerSchedules.choose(any).configuration();
            Choice<?> chosen = LayerSchedules.choose(cached);
            if (!new LoopCode(cached).fits(chosen)) {
                // Few channels of windows with many runs side by side.
                unfit++;
                continue;
            }
            changed += chosen.configuration().equals(usual) ? 0 : 1;
            if (LayerSchedules.choice(cached, usual, "recorded").isEmpty()) {
                refused++;
                assertThat(chosen.configuration()).isNotEqualTo(usual);
                assertThat(LayerSchedules.spaces(cached).stream().flatMap(space -> space.configurations().stream()))
                        .doesNotContain(usual)
                        .contains(chosen.configuration());
            }
        }
        assertThat(refused).isGreaterThan(10);
        assertThat(changed).isEqualTo(refused);
        assertThat(unfit).isLessThan(LAYERS.size() / 50);
    }

    /** So that spare RAM has room for some of them. */
    @Test
    void theFirstWeightsOfALargeDenseLayerLieApartWhereFlashWaits() {
        CheckedRuns runs = new CheckedRuns(LoopProgram.checkingArithmetic());
        List<LoweringCase> rows = LongStream.range(0, DENSE_CASES)
                .mapToObj(LoweringCase::largeDense)
                .filter(c -> c.op().type().shape().dim(0) == 1)
                .toList();
        assertThat(rows).isNotEmpty();
        for (LoweringCase c : rows) {
            Workload any = workload(c, "c -mcpu=cortex-m4", Optimize.SPEED);
            Workload cached = workload(c, CACHED, Optimize.SPEED);
            LoweredOperator lowered = Dispatch.lower(c.op(), cached, LayerSchedules.choose(cached));
            assertThat(lowered.schedule()).startsWith("dsp_dense");
            assertThat(Dispatch.lower(c.op(), any, LayerSchedules.choose(any))
                            .function()
                            .constants())
                    .hasSize(1);
            assertThat(lowered.function().constants()).hasSize(2).anySatisfy(table -> {
                assertThat(table.symbol()).endsWith("_weight_head");
                assertThat(table.data().size()).isBetween(6 << 10, 12 << 10);
            });
            runs.add(c.whole(lowered));
        }
        runs.check(folder);
    }

    @Test
    void everyConfigurationOutOfASpaceComputesTheLayer() {
        Map<String, Integer> tried = new TreeMap<>();
        Random random = new Random(11);
        CheckedRuns runs = new CheckedRuns(LoopProgram.checkingArithmetic());
        int number = 0;
        for (LoweringCase c : LAYERS) {
            for (Schedule<?> schedule : LayerSchedules.ALL) {
                List<String> targets = new ArrayList<>(TARGETS);
                Collections.rotate(targets, number++);
                List<LoweringRun> configurations = targets.stream()
                        .map(target -> workload(c, target, Optimize.SPEED))
                        .filter(workload -> schedule.applies(workload).isPresent())
                        .findFirst()
                        .map(workload -> draw(schedule, c, workload, random))
                        .orElse(List.of());
                configurations.forEach(runs::add);
                tried.merge(schedule.name(), configurations.size(), Integer::sum);
            }
        }
        runs.check(folder);
        assertThat(tried)
                .hasSize(LayerSchedules.ALL.size())
                .allSatisfy((name, count) -> assertThat(count).as(name).isPositive());
    }

    private static <E> List<LoweringRun> draw(Schedule<E> schedule, LoweringCase c, Workload workload, Random random) {
        E evidence = schedule.applies(workload).orElseThrow();
        List<Configuration> all =
                new ArrayList<>(schedule.space(workload, evidence).configurations());
        assertThat(all).as(schedule.name()).isNotEmpty().doesNotHaveDuplicates();
        Collections.shuffle(all, random);
        List<Configuration> drawn = all.subList(0, Math.min(DRAWN, all.size()));
        return drawn.stream()
                .map(configuration -> {
                    Choice<?> choice = Choice.of(schedule, workload, configuration, "drawn")
                            .orElseThrow();
                    return c.whole(Dispatch.lower(c.op(), workload, choice));
                })
                .toList();
    }

    @Test
    void rulesChooseOutOfTheSpacesAndTextsReadBack() {
        for (LoweringCase c : LAYERS) {
            for (String target : TARGETS) {
                for (Optimize optimize : Optimize.values()) {
                    Workload workload = workload(c, target, optimize);
                    Choice<?> choice = LayerSchedules.choose(workload);
                    Configuration read =
                            Configuration.parse(choice.configuration().text());
                    assertThat(read).isEqualTo(choice.configuration());
                    assertThat(choice.reason()).isNotEmpty();
                    assertThat(Choice.of(choice.schedule(), workload, read, "read"))
                            .as(read.text())
                            .isPresent();
                }
            }
        }
    }

    /** A record may ask for what no rule takes; what does not apply is no choice. */
    @Test
    void choicesOverrideTheRules() {
        LoweringCase c = LAYERS.stream()
                .filter(layer ->
                        workload(layer, "c -mcpu=cortex-m4", Optimize.SPEED).isPlainInt8())
                .filter(layer -> !ConvComputation.of(layer.op()).depthwise())
                .filter(layer -> ConvComputation.of(layer.op()).channels() > 1)
                .findFirst()
                .orElseThrow();
        Workload workload = workload(c, "c -mcpu=cortex-m4", Optimize.SPEED);
        Configuration slow = Configuration.parse("conv_direct(channel_block=1, unroll=1)");
        Choice<?> choice = Choice.of(new ConvDirectSchedule("conv_direct"), workload, slow, "measured")
                .orElseThrow();
        assertThat(Dispatch.lower(c.op(), workload, choice).schedule()).isEqualTo(slow.text());
        assertThat(Dispatch.lower(c.op(), workload, choice).reason()).isEqualTo("measured");
        assertThat(LayerSchedules.choose(workload).configuration()).isNotEqualTo(slow);
        Configuration large = Configuration.parse("conv_direct(channel_block=64, unroll=1)");
        assertThat(Choice.of(new ConvDirectSchedule("conv_direct"), workload, large, "measured"))
                .isEmpty();
        assertThat(Choice.of(new MveGemmSchedule("mve_gemm"), workload, Configuration.of("mve_gemm"), "measured"))
                .isEmpty();
    }
}
