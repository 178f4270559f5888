// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.frontend.tflite.SeededNet;
import io.kiln.frontend.tflite.SeededNet.Value;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Function;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.FoldedSums;
import io.kiln.target.Target;
import io.kiln.target.TestTargets;
import io.kiln.transform.Pipeline;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where 3x3 layers are computed with fewer products: deep ones for which no single high multiply is exact, too, as in the half of a U-Net that goes up. */
final class WinogradChoiceTest {
    private static final int CHANNELS = 16;

    @Test
    void sumsAreRescaledInTheStepsOfTheReference() {
        SeededNet net = new SeededNet(1);
        Value input = net.input("image", 0.02, 3, 1, 32, 32, 3);
        Value down = net.conv(input, CHANNELS, 3, 3, 1, true);
        Value below = net.conv(net.conv(down, 2 * CHANNELS, 3, 3, 2, true), 2 * CHANNELS, 3, 3, 1, true);
        Value joined = net.concatenate(down, net.transposeConv(below, CHANNELS));
        Value last = net.conv(joined, CHANNELS, 3, 3, 1, true);
        Function function = TfliteFrontend.read(Bytes.wrap(net.build(last, input)), "unet.tflite", "unet");

        List<FusedOperator> convolutions = FusedOperator.all(Pipeline.standard().run(function), "unet").stream()
                .filter(op -> op.root().op() instanceof QnnConv2d)
                .toList();
        FusedOperator behind = convolutions.get(convolutions.size() - 1);
        ConvComputation conv = ConvComputation.of(behind);
        Dispatch dispatch = new Dispatch(Target.parse("c -mcpu=cortex-m4"), Optimize.SPEED);

        assertThat(conv.taps()).isEqualTo(9 * 2 * CHANNELS);
        assertThat(FoldedSums.of(conv).orElseThrow().proven()).isEmpty();
        assertThat(dispatch.lower(behind).schedule()).startsWith("dsp_winograd");
    }

    /** Three eighths: 12 transformed weights of 16 bits are made from 9 bytes, and constants are there once in place of twice. */
    @Test
    void weightsOfTilesAreTransformedAtRunTime() {
        assertThat(weights(TestTargets.M4)).isEqualTo(2 * 12 * CHANNELS * CHANNELS + 2 * constants());
        assertThat(weights(TestTargets.M4_CACHED)).isEqualTo(9 * CHANNELS * CHANNELS + constants());
    }

    private static int constants() {
        int words = 2;
        return words * Integer.BYTES * CHANNELS;
    }

    private static long weights(String target) {
        LoweredOperator lowered = lower(16, CHANNELS, target);
        assertThat(lowered.schedule()).startsWith("dsp_winograd(");
        return lowered.function().constants().stream()
                .filter(table -> table.symbol().endsWith("_weight"))
                .mapToLong(table -> table.data().size())
                .sum();
    }

    /** Weights are read anew for each four pixels of a row that is no multiple of four, or whose factors fill the scratch of a tile. */
    @ParameterizedTest
    @CsvSource({
        "16, 16, cortex-m4, dsp_winograd",
        "10, 16, cortex-m4, dsp_winograd",
        "16, 16, cached, dsp_winograd",
        "10, 16, cached, dsp_conv",
        "16, 32, cached, dsp_winograd",
        "16, 128, cached, dsp_conv",
        "16, 256, cached, dsp_conv"
    })
    void flashThatWaitsIsReadForSeveralFoursAtOnce(int width, int channels, String core, String schedule) {
        String target = core.equals("cached") ? TestTargets.M4_CACHED : TestTargets.M4;

        assertThat(lower(width, channels, target).schedule()).startsWith(schedule + "(");
    }

    private static LoweredOperator lower(int width, int channels, String target) {
        SeededNet net = new SeededNet(1);
        Value input = net.input("image", 0.02, 3, 1, 8, width, channels);
        Function function = TfliteFrontend.read(
                Bytes.wrap(net.build(net.conv(input, channels, 3, 3, 1, true), input)), "m.tflite", "m");
        FusedOperator op =
                FusedOperator.all(Pipeline.standard().run(function), "m").get(0);
        return new Dispatch(Target.parse(target), Optimize.SPEED).lower(op);
    }
}
