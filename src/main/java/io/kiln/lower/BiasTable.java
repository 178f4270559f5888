// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.tir.Buffer;
import java.util.Arrays;
import java.util.List;

/**
 * Start values of the accumulators. Without padding the input's zero point is folded in: {@code sum((x - z) * w) + b}
 * equals {@code sum(x * w) + (b - z * sum(w))}; this holds only where no partial sum can leave 32 bits.
 *
 * @param buffer one value per output channel
 * @param isFolded whether the loops leave the zero point out
 * @param bound largest magnitude that an accumulator can reach
 */
public record BiasTable(Buffer buffer, boolean isFolded, long bound) {

    /** Builds the table for a convolution whose loops leave taps outside the input out. */
    public static BiasTable of(ConvComputation conv, Tables tables) {
        return of(conv, tables, !conv.window().isPadded());
    }

    /** Builds the table for a convolution whose loops find the zero point wherever a tap lies outside the input. */
    public static BiasTable ofFilled(ConvComputation conv, Tables tables) {
        return of(conv, tables, true);
    }

    private static BiasTable of(ConvComputation conv, Tables tables, boolean mayFold) {
        if (conv.isFloat()) {
            Buffer buffer = conv.op()
                    .bias()
                    .map(b -> tables.add("bias", DType.FLOAT32, b.data()))
                    .orElseGet(() -> tables.add("bias", DType.FLOAT32, Bytes.wrap(new byte[4 * conv.channels()])));
            return new BiasTable(buffer, false, 0);
        }
        int channels = conv.channels();
        long[] bias = new long[channels];
        conv.op().bias().ifPresent(b -> Arrays.setAll(bias, b::integer));
        long[] folded = new long[channels];
        long plainBound = 0;
        long foldedBound = 0;
        long largestOffset = Math.max(127 - conv.inputZeroPoint(), conv.inputZeroPoint() + 128);
        List<TapSums> sums = TapSums.of(conv);
        for (int o = 0; o < channels; o++) {
            TapSums taps = sums.get(o);
            folded[o] = bias[o] - conv.inputZeroPoint() * taps.sum();
            foldedBound = Math.max(foldedBound, Math.abs(folded[o]) + 128 * taps.magnitude());
            plainBound = Math.max(plainBound, Math.abs(bias[o]) + largestOffset * taps.magnitude());
        }
        boolean fold = mayFold && foldedBound <= Integer.MAX_VALUE;
        int[] values =
                Arrays.stream(fold ? folded : bias).mapToInt(v -> (int) v).toArray();
        return new BiasTable(tables.add("bias", DType.INT32, values), fold, fold ? foldedBound : plainBound);
    }
}
