// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.FourBitWeights;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Weights of two output channels in one halfword, as small as int8 but with half the unpacking:
 *
 * <pre>
 * halfword(i) = 256 * a(i) + b(i)                      a true sum, not a pair of bytes
 * word        = halfword(i) | halfword(i + 2) &lt;&lt; 16   inputs in the order in which SXTB16 unpacks them: 0 2, 1 3
 * SMLAD(x, word)         adds 256 * A + B
 * SMLAD(x, SXTB16(word)) adds B; the difference of the sums is 256 * A
 * </pre>
 *
 * <p>If a sum does not fit, the halfword is a pair of bytes, and SXTB16 unpacks both channels.
 *
 * <p>The first sum may wrap around: the difference is correct modulo 2^32, and 256 * A fits by {@link DspRequantize}.
 */
public final class DspWeights {
    private static final int BLOCK = 4;

    private DspWeights() {}

    /**
     * The blocks of four channels of a convolution, group by group; the last one of a group may have fewer, or lie over the one before.
     */
    private static List<int[]> blocks(ConvComputation conv, boolean overlap) {
        int perGroup = conv.channels() / conv.groups();
        List<int[]> blocks = new ArrayList<>();
        for (int group = 0; group < conv.channels(); group += perGroup) {
            for (int first = 0; first < perGroup; first += BLOCK) {
                int begin = overlap ? Math.max(0, Math.min(first, perGroup - BLOCK)) : first;
                int end = Math.min(begin + BLOCK, perGroup);
                blocks.add(IntStream.range(group + begin, group + end).toArray());
            }
        }
        return blocks;
    }

    /**
     * The words of all blocks: weights, in the order of the inputs, then the channels' constants.
     *
     * @param shape sizes of the kernel
     */
    static int[] pack(ConvComputation conv, int[] order, DspRequantize rescale, DspConvShape shape) {
        List<int[]> blocks = blocks(conv, shape.overlap() > 0);
        int quads = (order.length + 3) / 4;
        int size = 0;
        for (int[] block : blocks) {
            int wordsOfStep = shape.isPacked() ? 1 : (block.length + 1) / 2;
            size += quads * 2 * wordsOfStep + block.length * rescale.constantsPerChannel();
        }
        int[] words = new int[size];
        int next = 0;
        for (int[] block : blocks) {
            List<int[]> taps = IntStream.range(0, BLOCK)
                    .mapToObj(i -> taps(conv, block, i, order))
                    .toList();
            for (int i = 0; i < order.length; i += 4) {
                for (int word = 0; word < 2; word++) {
                    if (shape.isPacked()) {
                        words[next++] = FourBitWeights.halfword(taps, i + word)
                                | FourBitWeights.halfword(taps, i + word + 2) << Short.SIZE;
                        continue;
                    }
                    for (int c = 0; c < block.length; c += 2) {
                        words[next++] = quad(taps.get(c), taps.get(c + 1), i, word, rescale.isSummed());
                    }
                }
            }
            for (int o : block) {
                for (int constant : rescale.constants().constants(o)) {
                    words[next++] = constant;
                }
            }
        }
        return words;
    }

    /** Whether the weights of neighbouring channels fit in a halfword, block by block. */
    static boolean fit(ConvComputation conv) {
        return fit(conv, false);
    }

    /** The same, with the last block over the one before or smaller. */
    static boolean fit(ConvComputation conv, boolean overlap) {
        return blocks(conv, overlap).stream()
                .allMatch(block -> fits(taps(conv, block, 0), taps(conv, block, 1))
                        && fits(taps(conv, block, 2), taps(conv, block, 3)));
    }

    /** Weights of a channel of a block; 0 if it has no such channel. */
    private static int[] taps(ConvComputation conv, int[] block, int i) {
        return i < block.length ? conv.taps(block[i]) : new int[conv.taps()];
    }

    /** The same in the order of its inputs. */
    private static int[] taps(ConvComputation conv, int[] block, int i, int[] order) {
        return i < block.length ? taps(conv, block[i], order) : new int[order.length];
    }

    /** Whether the channels of a layer fit two by two. */
    public static boolean fitInPairs(ConvComputation conv) {
        for (int o = 0; o < conv.channels(); o += 2) {
            int[] second = o + 1 < conv.channels() ? conv.taps(o + 1) : new int[conv.taps()];
            if (!fits(conv.taps(o), second)) {
                return false;
            }
        }
        return true;
    }

    /** Whether two channels fit in a halfword for every input; -128 above a negative weight does not. */
    static boolean fits(int[] a, int[] b) {
        for (int i = 0; i < a.length; i++) {
            int sum = 256 * a[i] + b[i];
            if (sum != (short) sum || b[i] != (byte) b[i]) {
                return false;
            }
        }
        return true;
    }

    /** Weights of an output channel in the order of its inputs; 0 for gaps in the order. */
    static int[] taps(ConvComputation conv, int o, int[] order) {
        int[] taps = conv.taps(o);
        return Arrays.stream(order).map(i -> i < 0 ? 0 : taps[i]).toArray();
    }

    /** Appends the words of four inputs; inputs beyond the end have weight 0. */
    public static void putQuad(int[] a, int[] b, int first, int word, boolean isSummed, List<Integer> words) {
        words.add(quad(a, b, first, word, isSummed));
    }

    private static int quad(int[] a, int[] b, int first, int word, boolean isSummed) {
        int low = halfword(a, b, first + word, isSummed);
        int high = halfword(a, b, first + word + 2, isSummed);
        return (low & 0xFFFF) | (high << 16);
    }

    private static int halfword(int[] a, int[] b, int i, boolean isSummed) {
        if (i >= a.length) {
            return 0;
        }
        return isSummed ? 256 * a[i] + b[i] : (a[i] << 8) | (b[i] & 0xFF);
    }
}
