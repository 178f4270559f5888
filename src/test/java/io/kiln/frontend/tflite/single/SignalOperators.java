// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.frontend.tflite.TensorSpec;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.tensorflow.lite.schema.TensorType;

/** Signal processing, whose kernels are in TensorFlow Lite Micro only. */
final class SignalOperators {
    static final OperatorCases WINDOW = cases("SIGNAL_WINDOW", d -> {
        int[] shape = d.shape(1, 4);
        int x = samples(d, shape);
        int weights = d.add(d.constant(TensorSpec.of("window", TensorType.INT16, shape[shape.length - 1])));
        output(d, TensorType.INT16, shape);
        d.custom("SignalWindow", Map.of("shift", d.between(0, 31)), x, weights);
    });

    static final OperatorCases AUTO_SCALE = cases("SIGNAL_FFT_AUTO_SCALE", d -> {
        int length = d.between(1, 100);
        int limit = 1 << d.between(0, 15);
        TensorSpec data = TensorSpec.of("x", TensorType.INT16, length);
        int x = d.coin() ? d.input(data) : d.input(data, -limit, limit - 1);
        output(d, TensorType.INT16, length);
        output(d, TensorType.INT32);
        d.custom("SignalFftAutoScale", Map.of(), x);
    });

    static final OperatorCases RFFT = cases("SIGNAL_RFFT", d -> fft(d, false));

    static final OperatorCases IRFFT = cases("SIGNAL_IRFFT", d -> fft(d, true));

    static final OperatorCases ENERGY = cases("SIGNAL_ENERGY", d -> {
        int frequencies = d.between(1, 100);
        int start = d.between(0, frequencies);
        int end = d.between(start, frequencies);
        int x = samples(d, 2 * frequencies);
        output(d, TensorType.UINT32, frequencies);
        d.custom("SignalEnergy", Map.of("start_index", start, "end_index", end), x);
    });

    static final OperatorCases FRAMER = cases("SIGNAL_FRAMER", d -> {
        int step = d.between(1, 9);
        int size = d.between(step, 40);
        int frames = d.between(1, 4);
        int[] outer = d.shape(0, 2);
        int x = samples(d, join(outer, frames * step));
        output(d, TensorType.INT16, join(outer, frames, size));
        output(d, TensorType.BOOL);
        Map<String, Object> options = Map.of("frame_size", size, "frame_step", step, "prefill", d.coin());
        d.custom("SignalFramer", options, x);
    });

    static final OperatorCases STACKER = cases("SIGNAL_STACKER", d -> {
        int channels = d.between(1, 20);
        int left = d.between(0, 3);
        int right = d.between(0, 3);
        int step = d.between(1, left + right + 1);
        int x = samples(d, channels);
        output(d, TensorType.INT16, channels * (left + right + 1));
        output(d, TensorType.BOOL);
        d.custom(
                "SignalStacker",
                Map.of(
                        "num_channels",
                        channels,
                        "stacker_left_context",
                        left,
                        "stacker_right_context",
                        right,
                        "stacker_step",
                        step),
                x);
    });

    static final OperatorCases DELAY = cases("SIGNAL_DELAY", d -> {
        int[] shape = d.shape(1, 4);
        int x = samples(d, shape);
        output(d, TensorType.INT16, shape);
        d.custom("SignalDelay", Map.of("delay_length", d.between(1, 20)), x);
    });

    static final OperatorCases OVERLAP_ADD = cases("SIGNAL_OVERLAP_ADD", d -> {
        byte type = d.oneOf(TensorType.INT16, TensorType.FLOAT32);
        int[] outer = d.shape(0, 2);
        int frames = d.between(1, 4);
        int size = d.between(1, 20);
        int step = d.between(1, size);
        int x = d.input(TensorSpec.of("x", type, join(outer, frames, size)));
        output(d, type, join(outer, frames * step));
        d.custom("SignalOverlapAdd", Map.of("T", (int) type, "frame_step", step), x);
    });

    static final List<OperatorCases> ALL =
            List.of(WINDOW, AUTO_SCALE, RFFT, IRFFT, ENERGY, FRAMER, STACKER, DELAY, OVERLAP_ADD);

    private SignalOperators() {}

    private static OperatorCases cases(String name, Consumer<Draw> draw) {
        return OperatorCases.of(name, draw).withoutOracle("TensorFlow Lite has no such kernel");
    }

    private static void fft(Draw d, boolean inverse) {
        byte type = d.oneOf(TensorType.INT16, TensorType.INT32, TensorType.FLOAT32);
        int length = 1 << d.between(2, 9);
        int[] outer = d.coin() ? new int[0] : new int[] {1, d.between(1, 2), d.between(1, 2)};
        int spectrum = length + 2;
        int given = inverse ? spectrum : d.between(d.coin() ? 1 : length, length);
        TensorSpec data = TensorSpec.of("x", type, join(outer, given));
        int x = type == TensorType.INT32 ? d.input(data, Integer.MIN_VALUE, Integer.MAX_VALUE) : d.input(data);
        output(d, type, join(outer, inverse ? length : spectrum));
        d.custom(inverse ? "SignalIrfft" : "SignalRfft", Map.of("T", (int) type, "fft_length", length), x);
    }

    private static int samples(Draw d, int... shape) {
        return d.input(TensorSpec.of("x", TensorType.INT16, shape));
    }

    private static void output(Draw d, byte type, int... shape) {
        d.output(TensorSpec.of(shape.length == 0 ? "scalar" : "y", type, shape));
    }

    private static int[] join(int[] outer, int... inner) {
        int[] shape = Arrays.copyOf(outer, outer.length + inner.length);
        System.arraycopy(inner, 0, shape, outer.length, inner.length);
        return shape;
    }
}
