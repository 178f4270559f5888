// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.signal;

import static io.kiln.reference.kernel.OperatorKernel.pure;
import static io.kiln.reference.kernel.OperatorKernel.writing;

import io.kiln.base.DType;
import io.kiln.ir.arith.FilterBankLayout;
import io.kiln.ir.arith.FilterBankLayout.Channel;
import io.kiln.ir.arith.ScaledLogarithm;
import io.kiln.ir.arith.SquareRoot;
import io.kiln.ir.arith.WideDynamicGain;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.signal.FilterBankAccumulate;
import io.kiln.ir.op.signal.FilterBankGainControl;
import io.kiln.ir.op.signal.FilterBankLog;
import io.kiln.ir.op.signal.FilterBankSpectralSubtraction;
import io.kiln.ir.op.signal.FilterBankSquareRoot;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.OperatorKernel;
import io.kiln.reference.kernel.Outcome;
import io.kiln.reference.kernel.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Operators on the channels of a filter bank. */
public final class FilterBanks {
    public static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            pure(FilterBankAccumulate.class, FilterBanks::accumulate),
            pure(FilterBankSquareRoot.class, FilterBanks::squareRoot),
            pure(FilterBankGainControl.class, FilterBanks::gainControl),
            pure(FilterBankLog.class, FilterBanks::log),
            writing(FilterBankSpectralSubtraction.class, FilterBanks::spectralSubtraction));

    private FilterBanks() {}

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
        return Tensor.of(
                type,
                Arrays.stream(args.get(0).longs())
                        .mapToInt(value -> isShift ? SquareRoot.of(value) >>> bits : 0)
                        .toArray());
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
        int[] result = new int[data.length];
        for (int i = 0; i < result.length; i++) {
            long gain = Integer.toUnsignedLong(WideDynamicGain.at(noise[i], x -> gains[x]));
            int snr = (int) shifted(Integer.toUnsignedLong(data[i]) * gain, op.snrShift());
            result[i] = shrink(snr);
        }
        return Tensor.of(type, result);
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
        int[] result = args.get(0).ints().clone();
        for (int i = 0; i < result.length; i++) {
            int shifted = result[i] << op.correctionBits();
            boolean isAboveOne = Integer.compareUnsigned(shifted, 1) > 0;
            long value = isAboveOne ? Integer.toUnsignedLong(ScaledLogarithm.of(shifted, op.outputScale(), table)) : 0;
            result[i] = (int) Math.min(value, DType.INT16.max());
        }
        return Tensor.of(type, result);
    }
}
