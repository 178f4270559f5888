// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.Collections;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * A requantization to int8 as a search in a table of the accumulators at which a channel's result steps, for those that no
 * multiplication reproduces.
 *
 * @param steps the steps of all channels, ascending in each
 * @param isPerChannel whether channels have steps of their own
 */
record StepTable(Buffer steps, boolean isPerChannel) {
    private static final int STEPS = Byte.MAX_VALUE - Byte.MIN_VALUE;

    /**
     * The table of a requantization of accumulators that have no zero point.
     *
     * @param bound largest magnitude of the sums
     */
    static StepTable of(Requantization r, long bound, Tables tables) {
        int channels = r.multipliers().size();
        ProvenRequantize.Reference reference =
                new ProvenRequantize.Reference(r, Collections.nCopies(channels, 0), Byte.MIN_VALUE, Byte.MAX_VALUE);
        long most = Math.min(bound, Integer.MAX_VALUE);
        long[] steps = IntStream.range(0, channels)
                .mapToObj(c -> RequantizeSteps.of(reference, c, most))
                .flatMapToLong(LongStream::of)
                .toArray();
        boolean areWords = most < Integer.MAX_VALUE;
        Buffer table = areWords
                ? tables.add(
                        "steps",
                        DType.INT32,
                        LongStream.of(steps).mapToInt(s -> (int) s).toArray())
                : tables.add("steps", steps);
        return new StepTable(table, channels > 1);
    }

    /** Emits the result, with its zero point, for an accumulator. */
    Expr result(BlockBuilder block, String suffix, Expr sum, Expr channel) {
        Expr value = block.let("sum_of" + suffix, cast(steps.dtype(), sum));
        Expr first = block.let("first" + suffix, isPerChannel ? mul(channel, STEPS) : imm(0));
        return add(StepSearch.of(block, suffix, steps, first, STEPS, value), Byte.MIN_VALUE);
    }
}
