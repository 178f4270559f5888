// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Optimize;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.op.Layer;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ComputedWeightsLowering;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import io.kiln.target.Target;
import io.kiln.target.TestTargets;
import io.kiln.transform.Pipeline;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** No int8 layer of a golden model that matters runs in plain loops. */
@NeedsShared("golden")
final class GoldenKernelsTest {
    private static final List<String> TARGETS = List.of(
            TestTargets.M55, TestTargets.M4, TestTargets.M4_CACHED, TestTargets.M3, TestTargets.M0, TestTargets.RV32);

    /** Share of a model's multiply-accumulates from which on a layer matters. */
    private static final double SHARE = 0.01;

    @Test
    void layersOfGoldenModelsHaveKernels() {
        int layers = 0;
        for (String model : GoldenModels.INTEGER) {
            List<Workload> all = layers(model, Optimize.SPEED);
            long macs = all.stream().mapToLong(Workload::macs).sum() / TARGETS.size();
            for (Workload layer : all) {
                if (layer.isPlainInt8() && layer.macs() > SHARE * macs) {
                    layers++;
                    assertThat(LayerSchedules.choose(layer).configuration().schedule())
                            .as(model + " " + layer.conv().op().name() + " on " + layer.features())
                            .doesNotEndWith("_direct");
                }
            }
        }
        assertThat(layers).isGreaterThan(100);
    }

    /** If size is optimized, one kernel serves all depthwise layers, but the two largest on Cortex-M3 have one of their own. */
    @Test
    void onlyLargeDepthwiseLayersTakeFlash() {
        Map<String, Long> own = layers("vww_96_int8", Optimize.SIZE).stream()
                .filter(layer -> layer.conv().depthwise())
                .filter(layer ->
                        LayerSchedules.choose(layer).configuration().schedule().equals("depthwise_blocked"))
                .collect(Collectors.groupingBy(layer -> layer.features().toString(), Collectors.counting()));
        assertThat(own).isEqualTo(Map.of(Target.parse(TestTargets.M3).features().toString(), 2L));
    }

    /** If size is optimized, convolutions share a kernel where there are several. */
    @Test
    void theOnlyConvolutionOfAModelHasAKernelOfItsOwn() {
        assertThat(chosen("micro_kws_xs", Optimize.SIZE)).containsExactly("dsp_conv");
        assertThat(chosen("kws_ref_model", Optimize.SIZE)).isEmpty();
        assertThat(chosen("micro_kws_xs", Optimize.SPEED)).isEmpty();
    }

    /** If speed is optimized, those that are a small part of the work share one. */
    @Test
    void theSmallConvolutionsOfAModelShareAKernel() {
        assertThat(chosen("vww_96_int8", Optimize.SPEED))
                .containsOnly("dsp_conv_shared")
                .hasSize(4);
        assertThat(chosen("kws_ref_model", Optimize.SPEED)).isEmpty();
        assertThat(chosen("vww_96_int8", Optimize.RAM)).isEmpty();
    }

    /** The schedules on Cortex-M4 that do not follow from a layer alone. */
    private static List<String> chosen(String model, Optimize optimize) {
        var fused = Pipeline.standard().run(TfliteFrontend.read(GoldenModels.model(model), "golden"));
        List<FusedOperator> operators = FusedOperator.all(fused, "golden");
        CpuFeatures features = Target.parse(TestTargets.M4).features();
        LayerChoices choices = OnlyConvolution.of(operators, optimize, features);
        return operators.stream()
                .filter(Dispatch::hasChoice)
                .flatMap(op -> choices
                        .choose(
                                op,
                                new Workload(
                                        ConvComputation.of(op),
                                        Rows.whole(op.type().shape()),
                                        features,
                                        optimize))
                        .stream())
                .map(choice -> choice.configuration().schedule())
                .toList();
    }

    /** The layers of a model, on each core. */
    private static List<Workload> layers(String model, Optimize optimize) {
        var fused = Pipeline.standard().run(TfliteFrontend.read(GoldenModels.model(model), "golden"));
        return FusedOperator.all(fused, "golden").stream()
                .filter(op -> op.root().op() instanceof Layer && !ComputedWeightsLowering.suits(op))
                .flatMap(op -> onEachCore(op, optimize))
                .toList();
    }

    private static Stream<Workload> onEachCore(FusedOperator op, Optimize optimize) {
        ConvComputation conv = ConvComputation.of(op);
        Rows rows = Rows.whole(op.type().shape());
        return TARGETS.stream()
                .map(t -> new Workload(conv, rows, Target.parse(t).features(), optimize));
    }
}
