// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static io.kiln.frontend.tflite.SignalModel.output;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tensorflow.lite.schema.TensorType;

/** What the tests of TensorFlow Lite Micro's signal/micro/kernels expect of its kernels, and what its documentation of the operators shows. */
class SignalVectorsTest {
    private static final int[] RAMP = IntStream.rangeClosed(1, 16).toArray();

    @Test
    void aWindowWeighsSamples() {
        int[] up = IntStream.range(0, 16).map(i -> i << 8).toArray();
        int[] down = IntStream.range(0, 16).map(i -> (15 - i) << 8).toArray();
        SignalModel.Running window = new SignalModel(TensorType.INT16, 16)
                .with("SignalWindow", Map.of("shift", 12), down, output(TensorType.INT16, 16));
        assertThat(window.run(up))
                .containsExactly(0, 224, 416, 576, 704, 800, 864, 896, 896, 864, 800, 704, 576, 416, 224, 0);
        SignalModel.Running limited = new SignalModel(TensorType.INT16, 4)
                .with(
                        "SignalWindow",
                        Map.of("shift", 8),
                        new int[] {1323, 764, 9100, 4220},
                        output(TensorType.INT16, 4));
        assertThat(limited.run(1221, 1920, 9531, 2795)).containsExactly(6310, 5730, 32767, 32767);
    }

    @Test
    void energyIsZeroOutsideItsRange() {
        assertThat(energy(2, 4)).containsExactly(0, 0, 61, 113, 0, 0, 0, 0);
        assertThat(energy(0, 4)).containsExactly(5, 25, 61, 113, 0, 0, 0, 0);
        assertThat(energy(4, 8)).containsExactly(0, 0, 0, 0, 181, 265, 365, 481);
    }

    private static double[] energy(int start, int end) {
        return new SignalModel(TensorType.INT16, 16)
                .with("SignalEnergy", Map.of("start_index", start, "end_index", end), output(TensorType.UINT32, 8))
                .run(RAMP);
    }

    @Test
    void samplesAreShiftedToFifteenBits() {
        assertThat(autoScale(0x0000, 0x1111, 0x2222, 0x3333, 0x3333, 0x2222, 0x1111, 0x0000))
                .containsExactly(0x0000, 0x2222, 0x4444, 0x6666, 0x6666, 0x4444, 0x2222, 0x0000, 1);
        assertThat(autoScale(238, 113, -88, -243, -5, -130, 159, -70))
                .containsExactly(30464, 14464, -11264, -31104, -640, -16640, 20352, -8960, 7);
        assertThat(autoScale(0, 0)).containsExactly(0, 0, 0);
        assertThat(autoScale(5, -32768)).containsExactly(5, -32768, 0);
    }

    private static double[] autoScale(int... data) {
        return new SignalModel(TensorType.INT16, data.length)
                .with("SignalFftAutoScale", Map.of(), output(TensorType.INT16, data.length), output(TensorType.INT32))
                .run(data);
    }

    @ParameterizedTest
    @ValueSource(bytes = {TensorType.INT16, TensorType.INT32, TensorType.FLOAT32})
    void anImpulseHasAFlatSpectrum(byte type) {
        int[] impulse = new int[64];
        impulse[0] = 16384;
        double[] spectrum = new SignalModel(type, 64)
                .with("SignalRfft", Map.of("T", (int) type, "fft_length", 64), output(type, 66))
                .run(impulse);
        int flat = type == TensorType.FLOAT32 ? 16384 : 256;
        assertThat(spectrum)
                .containsExactly(IntStream.range(0, 66)
                        .mapToDouble(i -> i % 2 == 0 ? flat : 0)
                        .toArray());
    }

    @ParameterizedTest
    @ValueSource(bytes = {TensorType.INT16, TensorType.INT32, TensorType.FLOAT32})
    void aFlatSpectrumIsAnImpulse(byte type) {
        int[] spectrum = IntStream.range(0, 66).map(i -> i % 2 == 0 ? 256 : 0).toArray();
        double[] signal = new SignalModel(type, 66)
                .with("SignalIrfft", Map.of("T", (int) type, "fft_length", 64), output(type, 64))
                .run(spectrum);
        double[] impulse = new double[64];
        impulse[0] = 256;
        assertThat(signal).containsExactly(impulse);
    }

    /** 512 numbers and their spectrum from signal/testdata/fft_test_data.cc, which allows a difference of 3; there is none. */
    @Test
    void aSpectrumIsThatOfKissFft() throws IOException {
        int[] numbers;
        try (InputStream in = SignalVectorsTest.class.getResourceAsStream("rfft_512_int16.txt")) {
            numbers = Arrays.stream(new String(in.readAllBytes(), StandardCharsets.UTF_8)
                            .strip()
                            .split("\\s+", -1))
                    .mapToInt(Integer::parseInt)
                    .toArray();
        }
        double[] spectrum = new SignalModel(TensorType.INT16, 512)
                .with("SignalRfft", Map.of("fft_length", 512), output(TensorType.INT16, 514))
                .run(Arrays.copyOf(numbers, 512));
        assertThat(spectrum)
                .containsExactly(Arrays.stream(numbers, 512, numbers.length)
                        .asDoubleStream()
                        .toArray());
    }

    @Test
    void framesOverlapAndAreZeroUntilWhole() {
        SignalModel.Running framer = new SignalModel(TensorType.INT16, 2)
                .with(
                        "SignalFramer",
                        Map.of("frame_size", 3, "frame_step", 2, "prefill", false),
                        output(TensorType.INT16, 1, 3),
                        output(TensorType.BOOL));
        assertThat(framer.run(1, 2)).containsExactly(0, 0, 0, 0);
        assertThat(framer.run(3, 4)).containsExactly(1, 2, 3, 1);
        assertThat(framer.run(5, 6)).containsExactly(3, 4, 5, 1);
        assertThat(framer.run(7, 8)).containsExactly(5, 6, 7, 1);
    }

    @Test
    void silenceFillsTheFirstFrames() {
        SignalModel.Running framer = new SignalModel(TensorType.INT16, 2, 4)
                .with(
                        "SignalFramer",
                        Map.of("frame_size", 5, "frame_step", 2, "prefill", true),
                        output(TensorType.INT16, 2, 2, 5),
                        output(TensorType.BOOL));
        assertThat(framer.run(1, 2, 3, 4, 11, 12, 13, 14))
                .containsExactly(0, 0, 0, 1, 2, 0, 1, 2, 3, 4, 0, 0, 0, 11, 12, 0, 11, 12, 13, 14, 1);
        assertThat(framer.run(5, 6, 7, 8, 15, 16, 17, 18))
                .containsExactly(2, 3, 4, 5, 6, 4, 5, 6, 7, 8, 12, 13, 14, 15, 16, 14, 15, 16, 17, 18, 1);
    }

    @Test
    void stacksBeginWithTheFirstFrame() {
        SignalModel.Running stacker = stacker(1, 0, 1);
        assertThat(stacker.run(1, 2, 3)).containsExactly(1, 2, 3, 1, 2, 3, 1);
        assertThat(stacker.run(4, 5, 6)).containsExactly(1, 2, 3, 4, 5, 6, 1);
        SignalModel.Running later = stacker(0, 1, 2);
        assertThat(later.run(1, 2, 3)).containsExactly(0, 0, 0, 0, 0, 0, 0);
        assertThat(later.run(4, 5, 6)).containsExactly(1, 2, 3, 4, 5, 6, 1);
        assertThat(later.run(7, 8, 9)).containsExactly(0, 0, 0, 0, 0, 0, 0);
        assertThat(later.run(1, 2, 3)).containsExactly(7, 8, 9, 1, 2, 3, 1);
    }

    private static SignalModel.Running stacker(int left, int right, int step) {
        return new SignalModel(TensorType.INT16, 3)
                .with(
                        "SignalStacker",
                        Map.of(
                                "num_channels",
                                3,
                                "stacker_left_context",
                                left,
                                "stacker_right_context",
                                right,
                                "stacker_step",
                                step),
                        output(TensorType.INT16, 3 * (left + 1 + right)),
                        output(TensorType.BOOL));
    }

    @Test
    void delaysMayBeShorterOrLongerThanAFrame() {
        SignalModel.Running shorter = new SignalModel(TensorType.INT16, 8)
                .with("SignalDelay", Map.of("delay_length", 3), output(TensorType.INT16, 8));
        assertThat(shorter.run(1, 2, 3, 4, 5, 6, 7, 8)).containsExactly(0, 0, 0, 1, 2, 3, 4, 5);
        assertThat(shorter.run(0, 0, 0, 0, 0, 0, 0, 0)).containsExactly(6, 7, 8, 0, 0, 0, 0, 0);
        SignalModel.Running longer = new SignalModel(TensorType.INT16, 3)
                .with("SignalDelay", Map.of("delay_length", 5), output(TensorType.INT16, 3));
        assertThat(longer.run(1, 2, 3)).containsExactly(0, 0, 0);
        assertThat(longer.run(4, 0, 0)).containsExactly(0, 0, 1);
        assertThat(longer.run(0, 0, 0)).containsExactly(2, 3, 4);
        SignalModel.Running none = new SignalModel(TensorType.INT16, 3)
                .with("SignalDelay", Map.of("delay_length", 0), output(TensorType.INT16, 3));
        assertThat(none.run(1, 2, 3)).containsExactly(1, 2, 3);
    }

    @Test
    void framesThatOverlapAreAddedUp() {
        SignalModel.Running each = overlapAdd(1);
        assertThat(each.run(125, -12, -895)).containsExactly(125);
        assertThat(each.run(1000, 65, -212)).containsExactly(988);
        assertThat(each.run(63, 71, 52)).containsExactly(-767);
        assertThat(each.run(1, -17, 32)).containsExactly(-140);
        assertThat(overlapAdd(4).run(125, -12, -895, 1000, 65, -212, 63, 71, 52, 1, -17, 32))
                .containsExactly(125, 988, -767, -140);
    }

    private static SignalModel.Running overlapAdd(int frames) {
        return new SignalModel(TensorType.INT16, frames, 3)
                .with(
                        "SignalOverlapAdd",
                        Map.of("T", (int) TensorType.INT16, "frame_step", 1),
                        output(TensorType.INT16, frames));
    }
}
