// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.RealRescaling;
import io.kiln.ir.arith.RealRescaling.RealBias;
import io.kiln.ir.arith.RealRescaling.RealScale;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.OnnxRequantize;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.op.element.TflRealRequantize;
import io.kiln.ir.op.element.TflRequantize;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;

/**
 * Fixed-point requantization of accumulators, per tensor (one element) or per channel.
 *
 * @param multipliers Q31 multipliers
 * @param shifts powers of two, positive to the left
 * @param inputZeroPoint subtracted from the accumulator
 * @param outputZeroPoint added to the result
 * @param outDtype type that the result saturates to
 * @param rounding {@link Rounding#TFLITE}, which rounds twice, or how to round once
 * @param real the rescaling of each channel, or of all, if it is done with floats, which multipliers and shifts then only approximate;
 *     otherwise none
 */
public record Requantization(
        List<Integer> multipliers,
        List<Integer> shifts,
        int inputZeroPoint,
        int outputZeroPoint,
        DType outDtype,
        Rounding rounding,
        List<? extends RealRescaling> real) {
    public Requantization {
        multipliers = List.copyOf(multipliers);
        shifts = List.copyOf(shifts);
        real = List.copyOf(real);
    }

    /** A requantization of integers alone. */
    Requantization(
            List<Integer> multipliers,
            List<Integer> shifts,
            int inputZeroPoint,
            int outputZeroPoint,
            DType outDtype,
            Rounding rounding) {
        this(multipliers, shifts, inputZeroPoint, outputZeroPoint, outDtype, rounding, List.of());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Requantization requantization
                && multipliers.equals(requantization.multipliers)
                && shifts.equals(requantization.shifts)
                && inputZeroPoint == requantization.inputZeroPoint
                && outputZeroPoint == requantization.outputZeroPoint
                && outDtype == requantization.outDtype
                && rounding == requantization.rounding
                && real.equals(requantization.real);
    }

    @Override
    public int hashCode() {
        return 31 * (31 * (31 * multipliers.hashCode() + shifts.hashCode()) + inputZeroPoint) + outputZeroPoint;
    }

    /** Reads the binding of a requantization; equal channels are reduced to one element, unless they have biases of real numbers. */
    public static Requantization of(Binding binding) {
        if (binding.op() instanceof OnnxRequantize) {
            return ofRealBiases(binding);
        }
        if (binding.op() instanceof TflRealRequantize op) {
            return ofRealScales(binding, op);
        }
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

    private static Requantization ofRealBiases(Binding binding) {
        Constant scales = binding.constant(2);
        Constant bias = binding.constant(3);
        List<RealBias> biases = IntStream.range(0, bias.elements())
                .mapToObj(c -> new RealBias(
                        (double) binding.constant(1).real(0) * scales.real(scales.elements() == 1 ? 0 : c),
                        bias.real(c),
                        binding.constant(4).real(0)))
                .toList();
        return ofReal(biases, (int) binding.constant(5).integer(0), DType.INT8);
    }

    private static Requantization ofRealScales(Binding binding, TflRealRequantize op) {
        Constant weights = binding.constant(2);
        List<RealScale> scales = IntStream.range(0, weights.elements())
                .mapToObj(c -> op.scale(
                        binding.constant(1).real(0),
                        weights.real(c),
                        binding.constant(3).real(0),
                        binding.constant(4).real(0)))
                .toList();
        boolean isOne = scales.stream().distinct().count() == 1;
        return ofReal(
                isOne ? scales.subList(0, 1) : scales, (int) binding.constant(5).integer(0), op.outDtype());
    }

    private static Requantization ofReal(List<? extends RealRescaling> real, int outputZeroPoint, DType outDtype) {
        List<QuantizedMultiplier> by =
                real.stream().map(r -> QuantizedMultiplier.of(r.slope())).toList();
        return new Requantization(
                by.stream().map(QuantizedMultiplier::multiplier).toList(),
                by.stream().map(QuantizedMultiplier::shift).toList(),
                0,
                outputZeroPoint,
                outDtype,
                Rounding.ONNX,
                real);
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

    /** The same requantization with an output zero point of 0. */
    public Requantization centred() {
        return new Requantization(multipliers, shifts, inputZeroPoint, 0, outDtype, rounding, real);
    }

    /** The result for a channel before the output's zero point; {@code x} is less the input's zero point. */
    long rescale(int channel, int x) {
        return rescaling(channel).applyAsLong(x);
    }

    /** The function {@link #rescale} of a channel. */
    IntToLongFunction rescaling(int channel) {
        if (!real.isEmpty()) {
            RealRescaling function = real.get(isPerChannel() ? channel : 0);
            return function::rescale;
        }
        int multiplier = multiplier(channel);
        int shift = shift(channel);
        return switch (rounding) {
            case TFLITE -> x -> FixedPoint.multiplyByQuantizedMultiplier(x, multiplier, shift);
            case UPWARD -> x -> FixedPoint.multiplyRoundingUpward(x, multiplier, shift);
            case TONEAREST -> x -> FixedPoint.multiplyRoundingAway(x, multiplier, shift);
            case ONNX -> x -> FixedPoint.multiplyInSinglePrecision(x, multiplier, shift);
            case TRUNCATE -> throw new IllegalStateException("a rescaling does not truncate");
        };
    }

    /** Largest magnitude of a requantized accumulator up to a bound; those rounded once are limited to half of the 32-bit range. */
    long largest(long bound) {
        if (rounding != Rounding.TFLITE) {
            return 1L << 30;
        }
        long centred = bound + Math.abs((long) inputZeroPoint);
        return IntStream.range(0, shifts.size())
                .mapToLong(i ->
                        RequantizeCalls.largest(new QuantizedMultiplier(multipliers.get(i), shifts.get(i)), centred))
                .max()
                .orElse(0);
    }

    /** The part of a channel's real bias in its results, before they are rounded. */
    double offset(int channel) {
        return real.isEmpty() ? 0 : real.get(isPerChannel() ? channel : 0).offset();
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
