// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.DType;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.TflRequantize;
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
 */
public record Requantization(
        List<Integer> multipliers, List<Integer> shifts, int inputZeroPoint, int outputZeroPoint, DType outDtype) {
    public Requantization {
        multipliers = List.copyOf(multipliers);
        shifts = List.copyOf(shifts);
    }

    /** Reads a {@code tfl.requantize} binding; equal channels shrink to one element. */
    public static Requantization of(Binding binding) {
        TflRequantize op = (TflRequantize) binding.op();
        int[] multipliers = ints(binding.constant(1));
        int[] shifts = ints(binding.constant(2));
        int channels = Math.max(multipliers.length, shifts.length);
        List<Integer> m = spread(multipliers, channels);
        List<Integer> s = spread(shifts, channels);
        if (m.stream().distinct().count() == 1 && s.stream().distinct().count() == 1) {
            m = m.subList(0, 1);
            s = s.subList(0, 1);
        }
        return new Requantization(m, s, op.inputZeroPoint(), op.outputZeroPoint(), op.outDtype());
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
