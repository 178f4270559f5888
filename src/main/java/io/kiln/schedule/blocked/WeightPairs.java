// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.base.DType;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.tir.Buffer;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Two weights in a word, {@code first + second * 2^bits}, so that one multiplication gives the products of an input with both. The sums of
 * these stay apart as long as that of the first weights fits into {@code bits} bits with its sign.
 *
 * @param bits place of the second weight
 * @param taps products that are added before the sums are taken apart
 * @param steps how many times as many are in a loop
 */
record WeightPairs(int bits, int taps, int steps) {
    /** Of 64-bit sums, which both have room for all products of a layer. */
    private static final int BITS_OF_LONG = 23;

    private static final int BITS_OF_WORD = 16;
    private static final int LARGEST_INPUT = 128;
    private static final int MOST_TAPS = 8;
    private static final int MOST_IN_LOOP = 16;

    /** Pairs for sums of 64 bits, if a layer's weights are small or few enough. */
    static Optional<WeightPairs> ofLong(ConvComputation conv) {
        return sumOf(conv, conv.taps()) * LARGEST_INPUT < 1L << (BITS_OF_LONG - 1)
                ? Optional.of(new WeightPairs(BITS_OF_LONG, conv.taps(), 1))
                : Optional.empty();
    }

    /** Pairs for sums of 32 bits, if at least two products of any weights fit, and the number of taps is a multiple. */
    static Optional<WeightPairs> ofWord(ConvComputation conv) {
        for (int taps = MOST_TAPS; taps > 1; taps /= 2) {
            boolean divides = conv.taps() % taps == 0;
            if (divides && sumOf(conv, taps) * LARGEST_INPUT < 1L << (BITS_OF_WORD - 1)) {
                int steps = MOST_IN_LOOP / taps;
                while (conv.taps() % (taps * steps) != 0) {
                    steps /= 2;
                }
                return Optional.of(new WeightPairs(BITS_OF_WORD, taps, steps));
            }
        }
        return Optional.empty();
    }

    /** The largest sum of absolute weights of a channel over some taps that follow each other, from a multiple of their number on. */
    private static long sumOf(ConvComputation conv, int taps) {
        long most = 0;
        for (int channel = 0; channel < conv.channels(); channel++) {
            long sum = 0;
            int tap = 0;
            for (int ky = 0; ky < conv.window().kernelH(); ky++) {
                for (int kx = 0; kx < conv.window().kernelW(); kx++) {
                    for (int c = 0; c < conv.channelsPerGroup(); c++) {
                        sum = (tap++ % taps == 0 ? 0 : sum) + Math.abs(conv.tap(channel, ky, kx, c));
                        most = Math.max(most, sum);
                    }
                }
            }
        }
        return most;
    }

    /** A table of words for weights of which neighbours belong together. */
    Buffer table(Tables tables, int[] weights) {
        int[] words = IntStream.range(0, weights.length / 2)
                .map(i -> weights[2 * i] + (weights[2 * i + 1] << bits))
                .toArray();
        return tables.add("weight", DType.INT32, words);
    }

    /** C's expression for a weight of a word, given an expression that is true for the first one. */
    String unpacked(String isFirst, String word) {
        return "(%s ? (int8_t)%s : (%s - (int8_t)%s) / %d)".formatted(isFirst, word, word, word, 1 << bits);
    }

    /** Part of a kernel's name: everything on which its text depends. */
    String suffix() {
        return "_pairs" + (bits == BITS_OF_LONG ? "" : taps + "x" + steps);
    }
}
