// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.signal;

import static io.kiln.reference.kernel.OperatorKernel.pure;
import static io.kiln.reference.kernel.OperatorKernel.writing;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.arith.FilterBankLayout;
import io.kiln.ir.arith.FilterBankLayout.Channel;
import io.kiln.ir.arith.ScaledLogarithm;
import io.kiln.ir.arith.SquareRoot;
import io.kiln.ir.arith.WideDynamicGain;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.signal.FilterBankOperators.FilterBankAccumulate;
import io.kiln.ir.op.signal.FilterBankOperators.FilterBankGainControl;
import io.kiln.ir.op.signal.FilterBankOperators.FilterBankLog;
import io.kiln.ir.op.signal.FilterBankOperators.FilterBankSpectralSubtraction;
import io.kiln.ir.op.signal.FilterBankOperators.FilterBankSquareRoot;
import io.kiln.ir.op.signal.SignalOperators.SignalAutoScale;
import io.kiln.ir.op.signal.SignalOperators.SignalDelay;
import io.kiln.ir.op.signal.SignalOperators.SignalEnergy;
import io.kiln.ir.op.signal.SignalOperators.SignalFft;
import io.kiln.ir.op.signal.SignalOperators.SignalFrame;
import io.kiln.ir.op.signal.SignalOperators.SignalOverlapAdd;
import io.kiln.ir.op.signal.SignalOperators.SignalStack;
import io.kiln.ir.op.signal.SignalOperators.SignalWindow;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.OperatorKernel;
import io.kiln.reference.kernel.OperatorKernel.Outcome;
import io.kiln.reference.kernel.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Interprets the operators of {@code tfl.signal} on samples, spectra and the channels of a filter bank; some of them keep a state or write a second
 * result.
 */
public final class SignalKernels {
    public static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            pure(SignalWindow.class, SignalKernels::window),
            pure(SignalFft.class, FourierTransform::run),
            pure(SignalEnergy.class, SignalKernels::energy),
            writing(SignalAutoScale.class, SignalKernels::autoScale),
            writing(SignalFrame.class, SignalKernels::frame),
            writing(SignalStack.class, SignalKernels::stack),
            writing(SignalDelay.class, SignalKernels::delay),
            writing(SignalOverlapAdd.class, SignalKernels::overlapAdd),
            pure(FilterBankAccumulate.class, SignalKernels::accumulate),
            pure(FilterBankSquareRoot.class, SignalKernels::squareRoot),
            pure(FilterBankGainControl.class, SignalKernels::gainControl),
            pure(FilterBankLog.class, SignalKernels::log),
            writing(FilterBankSpectralSubtraction.class, SignalKernels::spectralSubtraction));

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

    private static Tensor accumulate(FilterBankAccumulate op, List<Tensor> args, TensorType type) {
        int[] energies = args.get(0).ints();
        int[] weights = args.get(FilterBankAccumulate.WEIGHTS).ints();
        int[] unweights = args.get(FilterBankAccumulate.UNWEIGHTS).ints();
        List<Channel> channels = FilterBankLayout.of(
                        op.channels() + 1,
                        i -> args.get(FilterBankAccumulate.ENERGY_STARTS).ints()[i],
                        i -> args.get(FilterBankAccumulate.WEIGHT_STARTS).ints()[i],
                        i -> args.get(FilterBankAccumulate.WIDTHS).ints()[i])
                .channels();
        long[] sums = new long[channels.size() + 1];
        for (int c = 0; c < channels.size(); c++) {
            Channel channel = channels.get(c);
            for (int j = 0; j < channel.width(); j++) {
                long energy = Integer.toUnsignedLong(energies[channel.energy() + j]);
                sums[c] += weights[channel.weight() + j] * energy;
                sums[c + 1] += unweights[channel.weight() + j] * energy;
            }
        }
        return Tensor.of(type, Arrays.copyOfRange(sums, 1, channels.size()));
    }

    private static Tensor squareRoot(FilterBankSquareRoot op, List<Tensor> args, TensorType type) {
        int bits = args.get(FilterBankSquareRoot.BITS).scalarInt();
        boolean isShift = bits >= 0 && bits < Integer.SIZE;
        long[] data = args.get(0).longs();
        return Tensor.ofInts(type, i -> isShift ? SquareRoot.of(data[i]) >>> bits : 0);
    }

    private static Outcome spectralSubtraction(FilterBankSpectralSubtraction op, List<Tensor> args, TensorType type) {
        int[] data = args.get(0).ints();
        int[] estimate = args.get(FilterBankSpectralSubtraction.ESTIMATE).ints().clone();
        int[] result = new int[data.length];
        for (int i = 0; i < data.length; i++) {
            long smoothing = i % 2 == 0 ? op.smoothing() : op.alternateSmoothing();
            long rest = i % 2 == 0 ? op.oneMinusSmoothing() : op.alternateOneMinusSmoothing();
            long scaled = Integer.toUnsignedLong(data[i] << op.smoothingBits());
            long sum = scaled * smoothing + Integer.toUnsignedLong(estimate[i]) * rest;
            long smoothed = shifted(sum, op.bits());
            long within = Math.min(smoothed, scaled);
            long least = shifted(Integer.toUnsignedLong(data[i]) * op.minSignalRemaining(), op.bits());
            estimate[i] = (int) (op.clamping() ? within : smoothed);
            result[i] = (int) Math.max((scaled - within) >>> op.smoothingBits(), least);
        }
        return new Outcome(Tensor.of(type, result), List.of(Tensor.of(type, estimate)));
    }

    /** An unsigned 64-bit number shifted right and reduced to 32 bits. */
    private static long shifted(long value, int bits) {
        return (value >>> bits) & DType.UINT32.max();
    }

    private static Tensor gainControl(FilterBankGainControl op, List<Tensor> args, TensorType type) {
        int[] data = args.get(0).ints();
        int[] noise = args.get(FilterBankGainControl.NOISE).ints();
        int[] gains = args.get(FilterBankGainControl.GAINS).ints();
        return Tensor.ofInts(type, i -> {
            long gain = Integer.toUnsignedLong(WideDynamicGain.at(noise[i], x -> gains[x]));
            return shrink((int) shifted(Integer.toUnsignedLong(data[i]) * gain, op.snrShift()));
        });
    }

    /** {@code x^2 / 4} below 2, else {@code x - 1}. */
    private static int shrink(int x) {
        int less = FilterBankGainControl.SNR_BITS - FilterBankGainControl.OUTPUT_BITS;
        return Integer.compareUnsigned(x, 2 << FilterBankGainControl.SNR_BITS) < 0
                ? (x * x) >>> (2 + FilterBankGainControl.SNR_BITS + less)
                : (x >>> less) - (1 << FilterBankGainControl.OUTPUT_BITS);
    }

    private static Tensor log(FilterBankLog op, List<Tensor> args, TensorType type) {
        int[] table = ScaledLogarithm.table();
        int[] data = args.get(0).ints();
        return Tensor.ofInts(type, i -> {
            int shifted = data[i] << op.correctionBits();
            boolean isAboveOne = Integer.compareUnsigned(shifted, 1) > 0;
            long value = isAboveOne ? Integer.toUnsignedLong(ScaledLogarithm.of(shifted, op.outputScale(), table)) : 0;
            return (int) Math.min(value, DType.INT16.max());
        });
    }
}
