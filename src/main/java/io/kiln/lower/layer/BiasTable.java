// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import io.kiln.base.DType;
import io.kiln.lower.Tables;
import io.kiln.tir.Buffer;
import java.util.Arrays;
import java.util.List;

/**
 * Initial values of the accumulators. Without padding the input's zero point is folded in: {@code sum((x - z) * w) + b}
 * equals {@code sum(x * w) + (b - z * sum(w))}, provided that no partial sum can exceed 32 bits.
 *
 * @param buffer one value per output channel, of the accumulator's type: int16 data whose sums can exceed 32 bits is
 * summed in 64
 * @param isFolded whether the loops ignore the zero point
 * @param bound largest magnitude that an accumulator can reach
 */
public record BiasTable(Buffer buffer, boolean isFolded, long bound) {

    /** Builds the table for a convolution whose loops skip taps outside the input. */
    public static BiasTable of(ConvComputation conv, Tables tables) {
        return of(conv, tables, !conv.window().isPadded());
    }

    /** Builds the table for a convolution whose loops read the zero point for taps outside the input. */
    public static BiasTable ofFilled(ConvComputation conv, Tables tables) {
        return of(conv, tables, true);
    }

    private static BiasTable of(ConvComputation conv, Tables tables, boolean mayFold) {
        if (conv.isFloat()) {
            return new BiasTable(tables.add("bias", real(conv)), false, 0);
        }
        Start start = Start.of(conv, mayFold);
        Buffer buffer = start.isWide()
                ? tables.add("bias", start.values().stream().mapToLong(v -> v).toArray())
                : tables.add(
                        "bias",
                        DType.INT32,
                        start.values().stream().mapToInt(Long::intValue).toArray());
        return new BiasTable(buffer, start.isFolded(), start.bound());
    }

    /** Whether {@link #ofFilled} folds the zero point in. */
    public static boolean isFoldedIfFilled(ConvComputation conv) {
        return !conv.isFloat() && Start.of(conv, true).isFolded();
    }

    /**
     * Whether accumulators need 64 bits.
     *
     * @param isFilled whether the loops read the zero point for taps outside the input
     */
    public static boolean isWide(ConvComputation conv, boolean isFilled) {
        return !conv.isFloat()
                && Start.of(conv, isFilled || !conv.window().isPadded()).isWide();
    }

    /** Initial values, before they become a table. */
    private record Start(List<Long> values, boolean isFolded, long bound, boolean isWide) {
        static Start of(ConvComputation conv, boolean mayFold) {
            int channels = conv.channels();
            long[] bias = new long[channels];
            conv.op().bias().ifPresent(b -> Arrays.setAll(bias, b::integer));
            long[] folded = new long[channels];
            long plainBound = 0;
            long foldedBound = 0;
            long least = conv.dataType().min();
            long largestOffset = Math.max(conv.dataType().max() - conv.inputZeroPoint(), conv.inputZeroPoint() - least);
            List<TapSums> sums = TapSums.of(conv);
            for (int kernel = 0; kernel < sums.size(); kernel++) {
                int o = kernel % channels;
                TapSums taps = sums.get(kernel);
                folded[o] = bias[o] - conv.inputZeroPoint() * taps.sum();
                foldedBound = Math.max(foldedBound, Math.abs(folded[o]) - least * taps.magnitude());
                plainBound = Math.max(plainBound, Math.abs(bias[o]) + largestOffset * taps.magnitude());
            }
            boolean fold = mayFold && !conv.isTransposed() && foldedBound <= Integer.MAX_VALUE;
            long bound = fold ? foldedBound : plainBound;
            boolean isWide = conv.dataType() == DType.INT16 && bound > Integer.MAX_VALUE;
            List<Long> values = Arrays.stream(fold ? folded : bias).boxed().toList();
            return new Start(values, fold, bound, isWide);
        }
    }

    /** Biases on the scale of the accumulators. */
    private static float[] real(ConvComputation conv) {
        float[] values = new float[conv.channels()];
        for (int o = 0; o < values.length; o++) {
            float bias = conv.op().bias().isPresent() ? conv.op().bias().get().real(o) : 0;
            values[o] = bias / conv.weightScale(o);
        }
        return values;
    }
}
