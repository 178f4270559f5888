// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.DType;
import io.kiln.base.Optimize;
import io.kiln.draw.RandomLayers;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Function;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.ir.op.layer.TransposedConvolutions.TransposedWindow;
import io.kiln.ir.type.Shape;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ComputedWeightsLowering;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import io.kiln.target.Target;
import io.kiln.target.TestTargets;
import io.kiln.transform.Pipeline;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Layers of the golden models that run in plain loops; only choices are made, nothing is compiled. */
class PlainLoopsTest {
    /** Work, as a part of that of a model, from which on a layer is listed. */
    private static final double NOTABLE = 0.01;

    /** Multiply-accumulates from which on a layer has a kernel if size is optimized. */
    private static final long LARGE = 5000;

    private static List<Workload> layers(Function fused, String target, Optimize optimize) {
        CpuFeatures features = Target.parse(target).features();
        return FusedOperator.all(fused, "layers").stream()
                .filter(op -> op.root().op() instanceof Layer && !ComputedWeightsLowering.suits(op))
                .map(op -> new Workload(
                        ConvComputation.of(op), Rows.whole(op.type().shape()), features, optimize))
                .filter(workload -> workload.conv().dataType() != DType.FLOAT32)
                .toList();
    }

    /** The golden models' layers that are left to plain loops, with the reason. */
    private static List<String> left(String target, Optimize optimize) {
        List<String> found = new ArrayList<>();
        int seen = 0;
        for (String model : GoldenModels.all()) {
            Function read = TfliteFrontend.read(GoldenModels.read(GoldenModels.model(model)), "model.tflite", "model");
            List<Workload> layers = layers(Pipeline.standard().run(read), target, optimize);
            long all = layers.stream().mapToLong(Workload::macs).sum();
            for (Workload layer : layers) {
                seen++;
                Choice<?> choice = LayerSchedules.choose(layer);
                boolean isNotable =
                        layer.macs() > NOTABLE * all && (optimize != Optimize.SIZE || layer.macs() >= LARGE);
                if (choice.reason().startsWith("plain loops") && isNotable) {
                    found.add(model + ": " + choice.reason());
                }
            }
        }
        assertThat(seen).isGreaterThan(100);
        return found;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {TestTargets.M4, TestTargets.M7, TestTargets.M55, TestTargets.M3, TestTargets.M0, TestTargets.RV32
            })
    @NeedsShared("golden")
    void ofTheGoldenModelsNoLayerIsLeftToThem(String target) {
        assertThat(left(target, Optimize.SPEED)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {TestTargets.M4, TestTargets.M55})
    @NeedsShared("golden")
    void ifSizeIsOptimizedOnlySmallLayersAreLeftToThem(String target) {
        assertThat(left(target, Optimize.SIZE)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {TestTargets.M4, TestTargets.M7, TestTargets.M55, TestTargets.M0})
    void noTransposedConvolutionIsLeftToThem(String target) {
        Target core = Target.parse(target);
        for (Optimize optimize : List.of(Optimize.SPEED, Optimize.SIZE)) {
            Dispatch dispatch = new Dispatch(core, optimize);
            List<String> schedules = Stream.of(DType.INT8, DType.INT16, DType.FLOAT32)
                    .filter(dtype -> !dtype.isFloat() || core.features().hasFpu())
                    .map(PlainLoopsTest::transposed)
                    .flatMap(model -> FusedOperator.all(Pipeline.standard().run(model), "layers").stream())
                    .map(op -> dispatch.lower(op).choice().reason())
                    .toList();
            assertThat(schedules).isNotEmpty().noneMatch(reason -> reason.startsWith("plain loops"));
        }
    }

    /**
     * 3x3 with stride 2, from 6x6x8 to 13x13x16; 4x4 of floats. Ordinary convolutions of floats stand only for kernels that the stride divides:
     * others have taps of zero, whose products with infinities would be NaN.
     */
    private static Function transposed(DType dtype) {
        int kernel = dtype.isFloat() ? 4 : 3;
        return RandomLayers.transposed(
                dtype,
                Shape.of(1, 6, 6, 8),
                new TransposedWindow(Window.of(kernel, kernel).strided(2, 2), 0, 0),
                16);
    }

    @ParameterizedTest
    @ValueSource(strings = {TestTargets.M4, TestTargets.M55, TestTargets.M3, TestTargets.M0, TestTargets.RV32})
    @NeedsShared("golden")
    void ofTheGoldenModelsNoLayerWithAStateIsLeftToThem(String target) {
        Dispatch dispatch = new Dispatch(Target.parse(target), Optimize.SPEED);
        List<String> reasons = Stream.of("keyword_scrambled", "trained_lstm_int8")
                .map(model ->
                        TfliteFrontend.read(GoldenModels.read(GoldenModels.model(model)), "model.tflite", "model"))
                .flatMap(read -> FusedOperator.all(Pipeline.standard().run(read), "layers").stream())
                .filter(op -> op.root().op() instanceof Svdf || op.root().op() instanceof Lstm)
                .map(op -> dispatch.lower(op).choice().reason())
                .toList();
        assertThat(reasons).hasSize(8).noneMatch(reason -> reason.startsWith("plain loops"));
    }
}
