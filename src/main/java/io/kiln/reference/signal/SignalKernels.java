// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.signal;

import static io.kiln.reference.kernel.OperatorKernel.pure;
import static io.kiln.reference.kernel.OperatorKernel.writing;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.signal.SignalAutoScale;
import io.kiln.ir.op.signal.SignalDelay;
import io.kiln.ir.op.signal.SignalEnergy;
import io.kiln.ir.op.signal.SignalFft;
import io.kiln.ir.op.signal.SignalFrame;
import io.kiln.ir.op.signal.SignalOverlapAdd;
import io.kiln.ir.op.signal.SignalStack;
import io.kiln.ir.op.signal.SignalWindow;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.OperatorKernel;
import io.kiln.reference.kernel.Outcome;
import io.kiln.reference.kernel.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Interprets the operators of {@code tfl.signal} on samples and spectra; five of them keep a state or write a second result. */
public final class SignalKernels {
    public static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            pure(SignalWindow.class, SignalKernels::window),
            pure(SignalFft.class, FourierTransform::run),
            pure(SignalEnergy.class, SignalKernels::energy),
            writing(SignalAutoScale.class, SignalKernels::autoScale),
            writing(SignalFrame.class, SignalKernels::frame),
            writing(SignalStack.class, SignalKernels::stack),
            writing(SignalDelay.class, SignalKernels::delay),
            writing(SignalOverlapAdd.class, SignalKernels::overlapAdd));

    private SignalKernels() {}

    private static Tensor window(SignalWindow op, List<Tensor> args, TensorType type) {
        int[] weights = args.get(1).ints();
        int[] result = args.get(0).ints().clone();
        for (int i = 0; i < result.length; i++) {
            result[i] = limited((result[i] * weights[i % weights.length]) >> op.shift());
        }
        return Tensor.of(type, result);
    }

    private static Tensor energy(SignalEnergy op, List<Tensor> args, TensorType type) {
        int[] spectrum = args.get(0).ints();
        int[] result = new int[spectrum.length / 2];
        for (int i = op.start(); i < op.end(); i++) {
            result[i] = spectrum[2 * i] * spectrum[2 * i] + spectrum[2 * i + 1] * spectrum[2 * i + 1];
        }
        return Tensor.of(type, result);
    }

    /** Limits a sample to int16. */
    private static int limited(int value) {
        return FixedPoint.clamp(value, DType.INT16.min(), DType.INT16.max());
    }

    private static Outcome autoScale(SignalAutoScale op, List<Tensor> args, TensorType type) {
        int[] result = args.get(0).ints().clone();
        int largest = 0;
        for (int value : result) {
            if (value > largest) {
                largest = value;
            } else if (-value > largest) {
                largest = (short) -value;
            }
        }
        int bits = largest <= 0 ? 0 : Integer.numberOfLeadingZeros(largest) - Short.SIZE - 1;
        for (int i = 0; i < result.length; i++) {
            result[i] = (short) (result[i] << bits);
        }
        Tensor written = Tensor.of(args.get(SignalAutoScale.BITS).type(), new int[] {bits});
        return new Outcome(Tensor.of(type, result), List.of(written));
    }

    private static Outcome frame(SignalFrame op, List<Tensor> args, TensorType type) {
        int[] data = args.get(0).ints();
        int[] state = args.get(SignalFrame.STATE).ints().clone();
        int length = args.get(0).shape().dim(-1);
        int frames = length / op.step();
        int begun = state[state.length - 1];
        int[] result = new int[(int) type.shape().elements()];
        for (int row = 0; row < data.length / length; row++) {
            int[] signal = continued(state, row * op.history(), op.history(), data, row * length, length);
            for (int f = Math.max(0, op.missing() - begun); f < frames; f++) {
                System.arraycopy(signal, f * op.step(), result, (row * frames + f) * op.size(), op.size());
            }
        }
        state[state.length - 1] = Math.min(begun + frames, op.missing());
        return new Outcome(
                Tensor.of(type, result),
                List.of(
                        truth(args.get(SignalFrame.VALID), begun >= op.missing()),
                        like(args.get(SignalFrame.STATE), state)));
    }

    private static Outcome delay(SignalDelay op, List<Tensor> args, TensorType type) {
        int[] data = args.get(0).ints();
        int[] state = args.get(SignalDelay.STATE).ints().clone();
        int length = args.get(0).shape().dim(-1);
        int[] result = new int[data.length];
        for (int row = 0; row < data.length / length; row++) {
            int[] signal = continued(state, row * op.length(), op.length(), data, row * length, length);
            System.arraycopy(signal, 0, result, row * length, length);
        }
        return new Outcome(Tensor.of(type, result), List.of(like(args.get(SignalDelay.STATE), state)));
    }

    /** The kept samples of a signal followed by the new ones; the state then keeps the last of them. */
    private static int[] continued(int[] state, int at, int kept, int[] data, int from, int length) {
        int[] signal = Arrays.copyOfRange(state, at, at + kept + length);
        System.arraycopy(data, from, signal, kept, length);
        System.arraycopy(signal, length, state, at, kept);
        return signal;
    }

    private static Outcome stack(SignalStack op, List<Tensor> args, TensorType type) {
        int[] data = args.get(0).ints();
        int[] state = args.get(SignalStack.STATE).ints().clone();
        int channels = data.length;
        int held = state[state.length - 1] - 1;
        for (int copies = held < 0 ? op.left() + 1 : 1; copies > 0; copies--) {
            held = Math.max(held, 0);
            System.arraycopy(data, 0, state, held * channels, channels);
            held++;
        }
        boolean isWhole = held == op.frames();
        int[] result = isWhole ? Arrays.copyOf(state, state.length - 1) : new int[state.length - 1];
        if (isWhole) {
            int forgotten = op.step() * channels;
            System.arraycopy(result, forgotten, state, 0, result.length - forgotten);
            held -= op.step();
        }
        state[state.length - 1] = held + 1;
        return new Outcome(
                Tensor.of(type, result),
                List.of(truth(args.get(SignalStack.VALID), isWhole), like(args.get(SignalStack.STATE), state)));
    }

    private static Outcome overlapAdd(SignalOverlapAdd op, List<Tensor> args, TensorType type) {
        Tensor data = args.get(0);
        Tensor state = args.get(SignalOverlapAdd.STATE);
        boolean isFloat = data.isFloat();
        int size = data.shape().dim(-1);
        int frames = data.shape().dim(-2);
        float[] sums = isFloat ? state.floats().clone() : floats(state.ints());
        float[] samples = isFloat ? data.floats() : floats(data.ints());
        float[] result = new float[(int) type.shape().elements()];
        for (int f = 0; f < samples.length / size; f++) {
            int at = f / frames * size;
            for (int i = 0; i < size; i++) {
                float sum = sums[at + i] + samples[f * size + i];
                sums[at + i] = isFloat ? sum : limited((int) sum);
            }
            System.arraycopy(sums, at, result, f * op.step(), op.step());
            System.arraycopy(sums, at + op.step(), sums, at, size - op.step());
            Arrays.fill(sums, at + size - op.step(), at + size, 0);
        }
        return isFloat
                ? new Outcome(Tensor.of(type, result), List.of(Tensor.of(state.type(), sums)))
                : new Outcome(Tensor.of(type, ints(result)), List.of(Tensor.of(state.type(), ints(sums))));
    }

    /** Every int16, and every sum of two, is exactly representable as float. */
    private static float[] floats(int[] values) {
        float[] floats = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            floats[i] = values[i];
        }
        return floats;
    }

    private static int[] ints(float[] values) {
        int[] ints = new int[values.length];
        for (int i = 0; i < values.length; i++) {
            ints[i] = (int) values[i];
        }
        return ints;
    }

    private static Tensor truth(Tensor variable, boolean value) {
        return like(variable, new int[] {value ? 1 : 0});
    }

    private static Tensor like(Tensor variable, int[] values) {
        return Tensor.of(variable.type(), values);
    }
}
