// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.FixedPoint;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Layer;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The rescaling of the reference's int64 sums, {@code (sum * multiplier + 2^(shift - 1)) >> shift}, as
 * {@link FixedPoint#multiplyByQuantizedMultiplier(long, int, int)} has it.
 *
 * @param multipliers of each channel, 15 bits
 * @param shifts of each channel
 */
record WideRescale(List<Integer> multipliers, List<Integer> shifts) {
    private static final int WORD = 32;
    private static final int MULTIPLIER_BITS = 15;

    WideRescale {
        multipliers = List.copyOf(multipliers);
        shifts = List.copyOf(shifts);
    }

    static WideRescale of(Requantization r) {
        return new WideRescale(
                r.multipliers().stream().map(FixedPoint::reducedMultiplier).toList(),
                r.shifts().stream().map(shift -> MULTIPLIER_BITS - shift).toList());
    }

    /**
     * Multipliers of the same function with a shift of 32 bits; empty if one leaves 32 bits, or if sums may.
     *
     * @param op of layers with constant weights it is known what their sums reach
     * @param bound largest magnitude of their sums
     */
    Optional<List<Integer>> ofHighWords(FusedOperator op, long bound) {
        boolean isLayer = op.root().op() instanceof Layer && op.root().args().get(1) instanceof Constant;
        long offset = op.requantization().map(Requantization::inputZeroPoint).orElse(0);
        boolean isNarrow = isLayer && bound + Math.abs(offset) <= Integer.MAX_VALUE;
        return isNarrow ? scaledToHighWords() : Optional.empty();
    }

    /** Multipliers as many powers of two times as large as the shifts are below 32; empty if one leaves 32 bits. */
    Optional<List<Integer>> scaledToHighWords() {
        return shifts.stream().allMatch(shift -> shift > MULTIPLIER_BITS && shift <= WORD)
                ? Optional.of(IntStream.range(0, multipliers.size())
                        .mapToObj(i -> multipliers.get(i) << (WORD - shifts.get(i)))
                        .toList())
                : Optional.empty();
    }
}
