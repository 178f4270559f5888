// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.op.element.TflRequantize;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Fixed-point rescaling of accumulators, per tensor (one element) or per channel.
 *
 * @param multipliers Q31 multipliers
 * @param shifts powers of two, positive to the left
 * @param inputZeroPoint subtracted from the accumulator
 * @param outputZeroPoint added to the result
 * @param outDtype type that the result saturates to
 * @param rounding {@link Rounding#TFLITE}, which rounds twice, or how to round once
 */
public record Requantization(
        List<Integer> multipliers,
        List<Integer> shifts,
        int inputZeroPoint,
        int outputZeroPoint,
        DType outDtype,
        Rounding rounding) {
    public Requantization {
        multipliers = List.copyOf(multipliers);
        shifts = List.copyOf(shifts);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Requantization requantization
                && multipliers.equals(requantization.multipliers)
                && shifts.equals(requantization.shifts)
                && inputZeroPoint == requantization.inputZeroPoint
                && outputZeroPoint == requantization.outputZeroPoint
                && outDtype == requantization.outDtype
                && rounding == requantization.rounding;
    }

    @Override
    public int hashCode() {
        return 31 * (31 * (31 * multipliers.hashCode() + shifts.hashCode()) + inputZeroPoint) + outputZeroPoint;
    }

    /** Reads a {@code tfl.requantize} or {@code qnn.requantize} binding; equal channels are reduced to one element. */
    public static Requantization of(Binding binding) {
        if (binding.op() instanceof QnnRequantize op) {
            List<QuantizedMultiplier> by = ratios(op, binding.constant(1), binding.constant(3));
            return of(
                    by.stream().mapToInt(QuantizedMultiplier::multiplier).toArray(),
                    by.stream().mapToInt(QuantizedMultiplier::shift).toArray(),
                    new int[] {
                        (int) binding.constant(2).integer(0),
                        (int) binding.constant(4).integer(0)
                    },
                    op.outDtype(),
                    op.rounding());
        }
        TflRequantize op = (TflRequantize) binding.op();
        return of(
                ints(binding.constant(1)),
                ints(binding.constant(2)),
                new int[] {op.inputZeroPoint(), op.outputZeroPoint()},
                op.outDtype(),
                op.rounding());
    }

    /** The multipliers from input scales to an output scale. */
    private static List<QuantizedMultiplier> ratios(QnnRequantize op, Constant inputScales, Constant outputScale) {
        return IntStream.range(0, inputScales.elements())
                .mapToObj(i -> op.multiplier(inputScales.real(i), outputScale.real(0)))
                .toList();
    }

    private static Requantization of(
            int[] multipliers, int[] shifts, int[] zeroPoints, DType outDtype, Rounding rounding) {
        int channels = Math.max(multipliers.length, shifts.length);
        List<Integer> m = spread(multipliers, channels);
        List<Integer> s = spread(shifts, channels);
        if (m.stream().distinct().count() == 1 && s.stream().distinct().count() == 1) {
            m = m.subList(0, 1);
            s = s.subList(0, 1);
        }
        return new Requantization(m, s, zeroPoints[0], zeroPoints[1], outDtype, rounding);
    }

    /** The result for a channel before the output's zero point; {@code x} is less the input's zero point. */
    public long rescale(int channel, int x) {
        return rescale(multiplier(channel), shift(channel), x);
    }

    /** The same with a channel's constants at hand. */
    long rescale(int multiplier, int shift, int x) {
        return switch (rounding) {
            case TFLITE -> FixedPoint.multiplyByQuantizedMultiplier(x, multiplier, shift);
            case UPWARD -> FixedPoint.multiplyRoundingUpward(x, multiplier, shift);
            case TONEAREST -> FixedPoint.multiplyRoundingAway(x, multiplier, shift);
            case ONNX -> FixedPoint.multiplyInSinglePrecision(x, multiplier, shift);
            case TRUNCATE -> throw new IllegalStateException("a rescaling does not truncate");
        };
    }

    /** Multiplier of a channel. */
    int multiplier(int channel) {
        return multipliers.get(isPerChannel() ? channel : 0);
    }

    /** Power of two of a channel, positive to the left. */
    int shift(int channel) {
        return shifts.get(isPerChannel() ? channel : 0);
    }

    public boolean isPerChannel() {
        return multipliers.size() > 1;
    }

    private static int[] ints(Constant constant) {
        return IntStream.range(0, constant.elements())
                .map(i -> (int) constant.integer(i))
                .toArray();
    }

    private static List<Integer> spread(int[] values, int channels) {
        return values.length == channels
                ? Arrays.stream(values).boxed().toList()
                : IntStream.range(0, channels).mapToObj(i -> values[0]).toList();
    }
}
