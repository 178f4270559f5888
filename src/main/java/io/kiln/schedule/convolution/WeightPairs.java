// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.base.DType;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.tir.Buffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Two weights in a word, {@code first + second * 2^bits}, so that one multiplication gives the products of an input with both. The sums of
 * these stay apart as long as that of the first weights fits into {@code bits} bits with its sign.
 *
 * @param bits place of the second weight
 * @param parts how many products each are added before the sums are taken apart; together the taps of a loop's body
 */
public record WeightPairs(int bits, List<Integer> parts) {
    public WeightPairs {
        parts = List.copyOf(parts);
    }

    /** Of 64-bit sums, which both have room for all products of a layer. */
    private static final int BITS_OF_LONG = 23;

    private static final int BITS_OF_WORD = 16;
    private static final int LARGEST_INPUT = 128;
    private static final int MOST_IN_LOOP = 32;

    /** With fewer products in a part, taking them apart costs what the pairs save. */
    private static final int LEAST_OF_PART = 2;

    /** Pairs for sums of 64 bits, if a layer's weights are small or few enough. */
    static Optional<WeightPairs> ofLong(ConvComputation conv) {
        int[][] weights = weights(conv);
        return fits(weights, 0, conv.taps(), conv.taps(), BITS_OF_LONG)
                ? Optional.of(new WeightPairs(BITS_OF_LONG, List.of(conv.taps())))
                : Optional.empty();
    }

    /**
     * Pairs for sums of 32 bits. The body of the loop has as many taps as divide those of the layer; its parts are as long as the weights
     * permit at each passage.
     *
     * @return empty if parts are too short
     */
    static Optional<WeightPairs> ofWord(ConvComputation conv) {
        int[][] weights = weights(conv);
        int body = IntStream.rangeClosed(1, Math.min(MOST_IN_LOOP, conv.taps()))
                .filter(taps -> conv.taps() % taps == 0)
                .max()
                .orElseThrow();
        List<Integer> parts = new ArrayList<>();
        int first = 0;
        while (first < body) {
            int taps = 0;
            while (first + taps < body && fits(weights, first, taps + 1, body, BITS_OF_WORD)) {
                taps++;
            }
            if (taps == 0) {
                return Optional.empty();
            }
            parts.add(taps);
            first += taps;
        }
        return parts.size() * LEAST_OF_PART <= body
                ? Optional.of(new WeightPairs(BITS_OF_WORD, parts))
                : Optional.empty();
    }

    /** Absolute weights, by channel and tap. */
    private static int[][] weights(ConvComputation conv) {
        return IntStream.range(0, conv.channels())
                .mapToObj(o -> Arrays.stream(conv.taps(o)).map(Math::abs).toArray())
                .toArray(int[][]::new);
    }

    /** Whether the products of some taps, of any inputs, fit into some bits with their sign, at each passage of a loop. */
    private static boolean fits(int[][] weights, int first, int taps, int body, int bits) {
        for (int[] channel : weights) {
            for (int at = first; at < channel.length; at += body) {
                long sum = Arrays.stream(channel, at, at + taps).asLongStream().sum();
                if (sum * LARGEST_INPUT >= 1L << (bits - 1)) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Whether they are for sums of 64 bits. */
    boolean areLong() {
        return bits == BITS_OF_LONG;
    }

    /** Taps of the loop's body. */
    public int taps() {
        return parts.stream().mapToInt(Integer::intValue).sum();
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
        return String.format(
                Locale.ROOT, "(%s ? (int8_t)%s : (%s - (int8_t)%s) / %d)", isFirst, word, word, word, 1 << bits);
    }

    /** Part of a kernel's name: everything on which its text depends. */
    String suffix() {
        return "_pairs"
                + (areLong() ? "" : parts.stream().map(taps -> "_" + taps).collect(Collectors.joining()));
    }
}
