// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.frontend.tflite.FlexOptions;
import io.kiln.frontend.tflite.LittleEndian;
import io.kiln.frontend.tflite.TensorSpec;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.tensorflow.lite.schema.TensorType;

/** Custom operators on the channels of a filter bank; energies reach from 0 to the ends of their types. */
final class FilterBankCases {
    private static final String MICRO_ALONE = "TensorFlow Lite Micro alone has these operators";
    private static final int GAINS = 125;
    private static final int MAX = Integer.MAX_VALUE;

    static final OperatorCases SUMS = cases("SignalFilterBank", FilterBankCases::sums);
    static final OperatorCases SQUARE_ROOTS = cases("SignalFilterBankSquareRoot", FilterBankCases::squareRoots);
    static final OperatorCases SUBTRACTION = cases("SignalFilterBankSpectralSubtraction", FilterBankCases::subtraction);
    static final OperatorCases GAIN_CONTROL = cases("SignalPCAN", FilterBankCases::gainControl);
    static final OperatorCases LOGARITHMS = cases("SignalFilterBankLog", FilterBankCases::logarithms);

    static final OperatorCases CHAIN = cases("SignalFilterBankChain", FilterBankCases::chain);
    static final OperatorCases PREPROCESSOR = cases("AudioPreprocessor", FilterBankCases::preprocessor);

    static final List<OperatorCases> ALL =
            List.of(SUMS, SQUARE_ROOTS, SUBTRACTION, GAIN_CONTROL, LOGARITHMS, CHAIN, PREPROCESSOR);

    private FilterBankCases() {}

    private static OperatorCases cases(String name, Consumer<Draw> draw) {
        return OperatorCases.of(name, draw).withoutOracle(MICRO_ALONE);
    }

    private static void sums(Draw d) {
        int energies = d.between(1, 60);
        int channels = d.between(1, 40);
        int[] in = bank(d, d.input(d.tensor(TensorType.UINT32, energies)), energies, channels);
        d.output(d.tensor(TensorType.UINT64, channels));
        d.custom("SignalFilterBank", Map.of("num_channels", channels), in);
    }

    /** The inputs of a filter bank of any layout; weights of every second one are positive. */
    private static int[] bank(Draw d, int data, int energies, int channels) {
        int weights = d.between(1, 60);
        boolean positive = d.coin();
        int[][] layout = new int[3][channels + 1];
        for (int c = 0; c <= channels; c++) {
            int width = d.between(0, Math.min(d.between(1, 4) == 1 ? 20 : 4, Math.min(weights, energies)));
            boolean nowhere = width == 0 && d.coin();
            layout[0][c] = nowhere ? d.between(-100, 100) : d.between(0, energies - width);
            layout[1][c] = nowhere ? d.between(-100, 100) : d.between(0, weights - width);
            layout[2][c] = width;
        }
        return new int[] {
            data,
            shorts(d, "weights", random(d, weights, positive)),
            shorts(d, "unweights", random(d, weights, positive)),
            shorts(d, "energy starts", layout[0]),
            shorts(d, "weight starts", layout[1]),
            shorts(d, "widths", layout[2])
        };
    }

    private static int[] random(Draw d, int count, boolean positive) {
        int[] values = new int[count];
        for (int i = 0; i < count; i++) {
            int any = d.oneOf(-32_768, -1, 0, 1, 32_767, d.between(-32_768, 32_767));
            values[i] = positive ? any & 0x7FFF : any;
        }
        return values;
    }

    private static int shorts(Draw d, String name, int... values) {
        return d.add(TensorSpec.of(name, TensorType.INT16, values.length).withData(LittleEndian.ofShorts(values)));
    }

    private static void squareRoots(Draw d) {
        int channels = d.between(1, 50);
        int x = d.input(d.tensor(TensorType.UINT64, channels));
        TensorSpec bits = TensorSpec.of("bits", TensorType.INT32);
        int shift = d.coin()
                ? d.add(bits.withData(LittleEndian.ofInts(d.between(-1, 33))))
                : d.input(bits, d.between(-40, 0), d.between(0, 40));
        d.output(d.tensor(TensorType.UINT32, channels));
        d.custom("SignalFilterBankSquareRoot", Map.of(), x, shift);
    }

    private static void subtraction(Draw d) {
        int channels = d.between(1, 40);
        int x = d.input(d.tensor(TensorType.UINT32, channels));
        d.output(d.tensor(TensorType.UINT32, channels));
        d.output(d.tensor(TensorType.UINT32, channels));
        d.custom("SignalFilterBankSpectralSubtraction", noise(d, channels), x);
    }

    private static Map<String, Object> noise(Draw d, int channels) {
        boolean usual = d.coin();
        int bits = usual ? 14 : d.between(0, 63);
        int most = usual ? 1 << bits : MAX;
        int smoothing = d.between(0, most - 1);
        int alternate = d.coin() ? smoothing : d.between(0, most - 1);
        return Map.of(
                "num_channels",
                channels,
                "smoothing",
                smoothing,
                "one_minus_smoothing",
                usual ? most - smoothing : d.between(0, MAX - 1),
                "alternate_smoothing",
                alternate,
                "alternate_one_minus_smoothing",
                usual ? most - alternate : d.between(0, MAX - 1),
                "smoothing_bits",
                usual ? d.between(0, 10) : d.between(0, 31),
                "min_signal_remaining",
                d.between(0, most - 1),
                "clamping",
                d.coin(),
                "spectral_subtraction_bits",
                bits);
    }

    private static void gainControl(Draw d) {
        int channels = d.between(1, 40);
        int x = d.input(d.tensor(TensorType.UINT32, channels));
        int noise = d.coin()
                ? d.input(d.tensor(TensorType.UINT32, channels))
                : d.input(d.tensor(TensorType.UINT32, channels), 0, d.oneOf(4, 2000, MAX));
        int gains = shorts(d, "gains", random(d, GAINS + d.between(0, 3), d.coin()));
        d.output(d.tensor(TensorType.UINT32, channels));
        d.custom("SignalPCAN", Map.of("snr_shift", d.coin() ? d.between(0, 12) : d.between(0, 63)), x, noise, gains);
    }

    private static void logarithms(Draw d) {
        int channels = d.between(1, 40);
        int x = d.coin()
                ? d.input(d.tensor(TensorType.UINT32, channels))
                : d.input(d.tensor(TensorType.UINT32, channels), 0, d.oneOf(3, 200, 70_000));
        d.output(d.tensor(TensorType.INT16, channels));
        d.custom("SignalFilterBankLog", logarithm(d), x);
    }

    private static Map<String, Object> logarithm(Draw d) {
        return Map.of(
                "output_scale", d.coin() ? d.oneOf(1, 1600, 32_768, MAX) : d.between(1, 100_000),
                "input_correction_bits", d.coin() ? d.between(0, 5) : d.between(0, 31));
    }

    /** One behind the other, from energies on. */
    private static void chain(Draw d) {
        int energies = d.between(20, 60);
        int channels = d.between(2, 40);
        int bits = d.input(TensorSpec.of("bits", TensorType.INT32), 0, 8);
        behind(d, d.input(d.tensor(TensorType.UINT32, energies)), bits, energies, channels);
    }

    /** All of the audio preprocessor, from samples on: a second result of one operator shifts what another computes. */
    private static void preprocessor(Draw d) {
        int length = 1 << d.between(4, 9);
        int samples = d.between(length / 2 + 1, length);
        int energies = length / 2 + 1;
        int channels = d.between(2, 40);
        int x = d.input(TensorSpec.of("x", TensorType.INT16, samples));
        int window = d.add(d.constant(TensorSpec.of("window", TensorType.INT16, samples)));
        int windowed = d.add(TensorSpec.of("windowed", TensorType.INT16, samples));
        int scaled = d.add(TensorSpec.of("scaled", TensorType.INT16, samples));
        int bits = d.add(TensorSpec.of("bits", TensorType.INT32));
        int spectrum = d.add(TensorSpec.of("spectrum", TensorType.INT16, length + 2));
        int energy = d.add(TensorSpec.of("energy", TensorType.UINT32, energies));
        custom(d, "SignalWindow", Map.of("shift", d.between(10, 15)), of(x, window), windowed);
        custom(d, "SignalFftAutoScale", Map.of(), of(windowed), scaled, bits);
        custom(d, "SignalRfft", Map.of("T", (int) TensorType.INT16, "fft_length", length), of(scaled), spectrum);
        Map<String, Object> range = Map.of("start_index", d.between(0, 3), "end_index", energies - d.between(0, 3));
        custom(d, "SignalEnergy", range, of(spectrum), energy);
        behind(d, energy, bits, energies, channels);
    }

    /** The noise is read where it is written. */
    private static void behind(Draw d, int energy, int bits, int energies, int channels) {
        int[] in = bank(d, energy, energies, channels);
        int sums = d.add(d.tensor(TensorType.UINT64, channels));
        int roots = d.add(d.tensor(TensorType.UINT32, channels));
        int clean = d.add(d.tensor(TensorType.UINT32, channels));
        int noise = d.add(d.tensor(TensorType.UINT32, channels));
        int even = d.add(d.tensor(TensorType.UINT32, channels));
        int gains = shorts(d, "gains", random(d, GAINS, true));
        int y = d.output(TensorSpec.of("y", TensorType.INT16, channels));
        custom(d, "SignalFilterBank", Map.of("num_channels", channels), in, sums);
        custom(d, "SignalFilterBankSquareRoot", Map.of(), of(sums, bits), roots);
        custom(d, "SignalFilterBankSpectralSubtraction", noise(d, channels), of(roots), clean, noise);
        custom(d, "SignalPCAN", Map.of("snr_shift", d.between(0, 12)), of(clean, noise, gains), even);
        custom(d, "SignalFilterBankLog", logarithm(d), of(even), y);
    }

    private static void custom(Draw d, String code, Map<String, Object> options, int[] in, int... out) {
        d.model().custom(code, FlexOptions.of(options), in, out);
    }

    private static int[] of(int... tensors) {
        return tensors;
    }
}
