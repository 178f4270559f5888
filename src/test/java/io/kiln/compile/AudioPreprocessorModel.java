// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.frontend.tflite.FlexOptions;
import io.kiln.frontend.tflite.LittleEndian;
import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/**
 * The audio preprocessor of TensorFlow Lite Micro's micro_speech as its audio_preprocessor.py makes it: 30 ms of sound at 16 kHz become
 * 40 features of int8.
 */
final class AudioPreprocessorModel {
    static final int WINDOW = 480;
    static final int STEP = 320;
    static final int CHANNELS = 40;
    private static final int FFT = 512;
    private static final int BINS = FFT / 2 + 1;
    private static final int WINDOW_BITS = 12;
    private static final int GAIN_BITS = 21;
    private static final int CORRECTION_BITS = 3;
    private static final int SCALE = 666;
    private static final FilterBankTables BANK = FilterBankTables.of(CHANNELS, 31.25f, 125, 7500);

    private final TfliteModelBuilder model = new TfliteModelBuilder();
    private int count;

    private AudioPreprocessorModel() {}

    /** Takes a window and gives its features. */
    static TfliteModelBuilder ofWindows() {
        AudioPreprocessorModel all = new AudioPreprocessorModel();
        int sound = all.tensor(TensorType.INT16, 1, WINDOW);
        int features = all.features(sound);
        return all.model.inputs(sound).outputs(features);
    }

    /** Takes the next 20 ms and gives the features of the last 30, silence coming first. */
    static TfliteModelBuilder ofStreams() {
        AudioPreprocessorModel all = new AudioPreprocessorModel();
        int sound = all.tensor(TensorType.INT16, STEP);
        int frame = all.tensor(TensorType.INT16, 1, WINDOW);
        int valid = all.tensor(TensorType.BOOL);
        Map<String, Object> options = Map.of("frame_size", WINDOW, "frame_step", STEP, "prefill", true);
        all.model.custom("SignalFramer", FlexOptions.of(options), new int[] {sound}, frame, valid);
        int features = all.features(frame);
        return all.model.inputs(sound).outputs(features, valid);
    }

    private int features(int frame) {
        List<Integer> hann = IntStream.range(0, WINDOW)
                .mapToObj(i ->
                        (int) Math.rint((0.5 - 0.5 * Math.cos(2 * Math.PI / WINDOW * (i + 0.5))) * (1 << WINDOW_BITS)))
                .toList();
        int window = tensor(TensorType.INT16, 1, WINDOW);
        custom("SignalWindow", Map.of("shift", WINDOW_BITS), new int[] {frame, shorts(hann)}, window);
        int flat = tensor(TensorType.INT16, WINDOW);
        model.operator(BuiltinOperator.RESHAPE, 1, Options.reshape(WINDOW), new int[] {window}, flat);
        int scaled = tensor(TensorType.INT16, WINDOW);
        int bits = tensor(TensorType.INT32);
        custom("SignalFftAutoScale", Map.of(), new int[] {flat}, scaled, bits);
        int spectrum = tensor(TensorType.INT16, FFT + 2);
        custom("SignalRfft", Map.of("T", (int) TensorType.INT16, "fft_length", FFT), new int[] {scaled}, spectrum);
        int energy = tensor(TensorType.UINT32, BINS);
        custom(
                "SignalEnergy",
                Map.of("start_index", BANK.start(), "end_index", BANK.end()),
                new int[] {spectrum},
                energy);
        return bytes(channels(band(energy), bits));
    }

    /** Zeros outside the band, as the converted model has it. */
    private int band(int energy) {
        int whole = cast(energy, TensorType.INT32, BINS);
        int slice = tensor(TensorType.INT32, BANK.end() - BANK.start());
        int[] cut = {
            whole,
            model.tensor(TensorSpec.int32("begin", BANK.start())),
            model.tensor(TensorSpec.int32("end", BANK.end())),
            model.tensor(TensorSpec.int32("strides", 1))
        };
        model.operator(BuiltinOperator.STRIDED_SLICE, 1, Options.table(BuiltinOptions.StridedSliceOptions), cut, slice);
        int joined = tensor(TensorType.INT32, BINS);
        int head = model.tensor(TensorSpec.int32("head", new int[BANK.start()]));
        int tail = model.tensor(TensorSpec.int32("tail", new int[BINS - BANK.end()]));
        model.operator(
                BuiltinOperator.CONCATENATION,
                1,
                Options.table(BuiltinOptions.ConcatenationOptions, Field.int32(0, 0)),
                new int[] {head, slice, tail},
                joined);
        return cast(joined, TensorType.UINT32, BINS);
    }

    private int channels(int energy, int bits) {
        int sums = tensor(TensorType.UINT64, CHANNELS);
        int[] tables = {
            energy,
            shorts(BANK.weights()),
            shorts(BANK.unweights()),
            shorts(BANK.frequencyStarts()),
            shorts(BANK.weightStarts()),
            shorts(BANK.widths())
        };
        custom("SignalFilterBank", Map.of("num_channels", CHANNELS), tables, sums);
        int roots = tensor(TensorType.UINT32, CHANNELS);
        custom("SignalFilterBankSquareRoot", Map.of(), new int[] {sums, bits}, roots);
        int signal = tensor(TensorType.UINT32, CHANNELS);
        int noise = tensor(TensorType.UINT32, CHANNELS);
        Map<String, Object> subtraction = Map.of(
                "num_channels", CHANNELS,
                "smoothing", 409,
                "one_minus_smoothing", (1 << 14) - 409,
                "alternate_smoothing", 983,
                "alternate_one_minus_smoothing", (1 << 14) - 983,
                "smoothing_bits", 10,
                "min_signal_remaining", 819,
                "clamping", false,
                "spectral_subtraction_bits", 14);
        custom("SignalFilterBankSpectralSubtraction", subtraction, new int[] {roots}, signal, noise);
        int even = tensor(TensorType.UINT32, CHANNELS);
        int gains = shorts(FilterBankTables.gains(0.95f, 80, 10 - CORRECTION_BITS, GAIN_BITS));
        custom("SignalPCAN", Map.of("snr_shift", 6), new int[] {signal, noise, gains}, even);
        int logarithms = tensor(TensorType.INT16, CHANNELS);
        Map<String, Object> log = Map.of("output_scale", 1 << 6, "input_correction_bits", CORRECTION_BITS);
        custom("SignalFilterBankLog", log, new int[] {even}, logarithms);
        return logarithms;
    }

    /** {@code (x * 256 + 333) / 666 - 128}, limited to int8. */
    private int bytes(int logarithms) {
        int value = cast(logarithms, TensorType.INT32, CHANNELS);
        value = binary(BuiltinOperator.MUL, Options.table(BuiltinOptions.MulOptions), value, 256);
        value = binary(BuiltinOperator.ADD, Options.add(Options.NO_ACTIVATION), value, SCALE / 2);
        value = binary(BuiltinOperator.DIV, Options.table(BuiltinOptions.DivOptions), value, SCALE);
        value = binary(BuiltinOperator.ADD, Options.add(Options.NO_ACTIVATION), value, -128);
        value = binary(BuiltinOperator.MINIMUM, Options.none(), value, 127);
        value = binary(BuiltinOperator.MAXIMUM, Options.none(), value, -128);
        return cast(value, TensorType.INT8, CHANNELS);
    }

    private int binary(int operator, Options options, int x, int constant) {
        int result = tensor(TensorType.INT32, CHANNELS);
        int other = model.tensor(TensorSpec.int32("c" + count++, constant));
        model.operator(operator, 1, options, new int[] {x, other}, result);
        return result;
    }

    private int cast(int x, byte type, int elements) {
        int result = tensor(type, elements);
        model.operator(BuiltinOperator.CAST, 1, Options.none(), new int[] {x}, result);
        return result;
    }

    private void custom(String code, Map<String, Object> options, int[] in, int... out) {
        model.custom(code, FlexOptions.of(options), in, out);
    }

    private int tensor(byte type, int... shape) {
        return model.tensor(TensorSpec.of("t" + count++, type, shape));
    }

    private int shorts(List<Integer> values) {
        return model.tensor(TensorSpec.of("t" + count++, TensorType.INT16, values.size())
                .withData(LittleEndian.ofShorts(values.stream().mapToInt(i -> i).toArray())));
    }
}
