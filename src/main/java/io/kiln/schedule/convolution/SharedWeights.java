// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.lower.layer.ConvComputation;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Weights of a convolution or dense layer in blocks of output channels, two channels to a halfword as in kernels for speed:
 * {@code 256 * first + second}, so that SMLAD adds 256 times the first sum and the second at once. Behind the weights of a block are the constants of
 * its channels.
 *
 * @param taps weights of each channel, each run of neighbouring inputs filled up with 0 to a multiple of four
 * @param size channels of a block, even
 */
public record SharedWeights(List<int[]> taps, int size) {
    /** Inputs that a step takes. */
    public static final int STEP = 4;

    private static final int FIRST = 256;

    public SharedWeights {
        taps = List.copyOf(taps);
    }

    /** The weights of a layer. */
    static SharedWeights of(ConvComputation conv, int size) {
        return new SharedWeights(
                IntStream.range(0, conv.channels()).mapToObj(o -> taps(conv, o)).toList(), size);
    }

    /**
     * The weights of a layer whose window is the whole input, at least {@link #STEP} inputs; a last step of fewer inputs reads the last ones, of which
     * those that were read before have weights of 0.
     */
    public static SharedWeights ofRow(ConvComputation conv, int size) {
        int rest = conv.taps() % STEP;
        int whole = conv.taps() - rest;
        List<int[]> taps = new ArrayList<>();
        for (int o = 0; o < conv.channels(); o++) {
            int[] row = new int[rest == 0 ? whole : whole + STEP];
            int[] all = conv.taps(o);
            System.arraycopy(all, 0, row, 0, whole);
            System.arraycopy(all, whole, row, row.length - rest, rest);
            taps.add(row);
        }
        return new SharedWeights(taps, size);
    }

    /** Taps of a channel with those that fill up. */
    static int filled(ConvComputation conv) {
        return conv.taps() / run(conv) * pitch(conv);
    }

    /** Neighbouring inputs: a row of the window, or a pixel if its columns are not neighbours. */
    private static int run(ConvComputation conv) {
        return (conv.window().dilationW() == 1 ? conv.window().kernelW() : 1) * conv.channelsPerGroup();
    }

    private static int pitch(ConvComputation conv) {
        return (run(conv) + STEP - 1) / STEP * STEP;
    }

    private static int[] taps(ConvComputation conv, int o) {
        int[] taps = new int[filled(conv)];
        int[] all = conv.taps(o);
        int run = run(conv);
        for (int i = 0; i < all.length; i++) {
            taps[i / run * pitch(conv) + i % run] = all[i];
        }
        return taps;
    }

    /** First channels of the blocks; the last block may overlap the one before. */
    public List<Integer> blocks() {
        List<Integer> blocks = new ArrayList<>();
        for (int first = 0; first < taps.size(); first += size) {
            blocks.add(Math.min(first, taps.size() - size));
        }
        return blocks;
    }

    /** Whether the weights of every two channels fit a halfword: -128 above a negative weight does not. */
    public boolean fit() {
        return taps.size() >= size
                && blocks().stream()
                        .allMatch(first -> IntStream.range(0, size / 2)
                                .allMatch(pair -> fit(taps.get(first + 2 * pair), taps.get(first + 2 * pair + 1))));
    }

    private static boolean fit(int[] first, int[] second) {
        return IntStream.range(0, first.length).allMatch(i -> {
            int both = FIRST * first[i] + second[i];
            return both == (short) both;
        });
    }

    /** The constants behind the weights of a block. */
    public interface Constants {
        /** Those of a channel; the second channel of its pair is the channel itself or the next one. */
        List<Integer> of(int channel, int second);
    }

    /** The words that the layer's channels have in common, then those of all blocks. */
    int[] pack(SharedEpilogue epilogue) {
        return pack(epilogue.header(), (channel, second) -> epilogue.constants(channel), true);
    }

    /**
     * The words of all blocks, with the constants of each channel.
     *
     * @param isSummed whether halfwords are sums, otherwise pairs of bytes: the first weight's is the higher one
     */
    public int[] pack(List<Integer> header, Constants constants, boolean isSummed) {
        List<Integer> words = new ArrayList<>(header);
        for (int first : blocks()) {
            for (int i = 0; i < taps.get(0).length; i += STEP) {
                for (int half = 0; half < 2; half++) {
                    for (int o = first; o < first + size; o += 2) {
                        words.add((halfword(o, i + half, isSummed) & 0xFFFF)
                                | (halfword(o, i + half + 2, isSummed) << 16));
                    }
                }
            }
            for (int o = first; o < first + size; o++) {
                words.addAll(constants.of(o, first + ((o - first) | 1)));
            }
        }
        return words.stream().mapToInt(Integer::intValue).toArray();
    }

    private int halfword(int channel, int i, boolean isSummed) {
        int second = taps.get(channel + 1)[i];
        return FIRST * taps.get(channel)[i] + (isSummed ? second : second & 0xFF);
    }
}
