// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.kernels.convolution.Jtedsp_winograd_inputGenerated;
import io.kiln.kernels.convolution.Jtedsp_winograd_weightsGenerated;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.tir.Kernel;
import java.util.ArrayList;
import java.util.List;

/**
 * Weights of {@link DspWinogradSchedule}: transformed and 16 bits wide, or as bytes that are transformed to the same at run time, a block at a time. Bytes take
 * three eighths of the flash.
 *
 * <pre>
 * block of four channels: [m1 m2 m0][row of the window][two inputs][channel], constants, [m3][row][two inputs][channel], constants
 * as bytes: block of four channels: [row of the window][two inputs][two channels][column of the window], constants
 * two inputs: in the order in which SXTB16 unpacks four: 0 2, 1 3; an input that has factors twice has weights once
 * </pre>
 */
public final class DspWinogradWeights {
    /** Transformed weights are doubled and reach 384 in magnitude; 16 bits leave room for this further scale. */
    private static final int ROOM_BITS = 6;
    /** Scale of the sums. */
    static final int SCALE_BITS = ROOM_BITS + 1;

    private static final int BLOCK = 4;

    private DspWinogradWeights() {}

    /** Number of output channels, including those computed twice. */
    static int channels(ConvComputation conv) {
        return (conv.channels() + BLOCK - 1) / BLOCK * BLOCK;
    }

    /** Bytes of the weights, without constants. */
    static long bytes(ConvComputation conv) {
        return 2L * 12 * DspWinogradInput.filled(conv.input().dim(3)) * channels(conv);
    }

    /** The table of bytes. */
    static int[] packBytes(ConvComputation conv, DspRequantize rescale) {
        List<Integer> words = new ArrayList<>();
        for (int first = 0; first < conv.channels(); first += BLOCK) {
            for (int i = 0; i < 3 * DspWinogradInput.filled(conv.input().dim(3)); i += 2) {
                for (int o = first; o < first + BLOCK; o += 2) {
                    for (int column = 0; column < 3; column++) {
                        words.add(bytes(conv, o, i, column));
                    }
                }
            }
            for (int c = first; c < first + BLOCK; c++) {
                rescale.put(c, words);
            }
        }
        return words.stream().mapToInt(Integer::intValue).toArray();
    }

    /** Weights of two inputs, of two channels each. */
    private static int bytes(ConvComputation conv, int o, int place, int column) {
        int filled = DspWinogradInput.filled(conv.input().dim(3));
        int ky = place / filled;
        // Of four places the first two words are 0 2, 1 3.
        int i = place % filled / 4 * 4 + place % 4 / 2;
        int word = 0;
        for (int b = 0; b < 4; b++) {
            int c = DspWinogradInput.inputAt(i + b / 2 * 2, conv.input().dim(3));
            word |= (c < 0 ? 0 : conv.tap(o + b % 2, ky, column, c) & 0xFF) << (8 * b);
        }
        return word;
    }

    /** {@code (to, w, pairs, constants)}: transforms a block; pairs of channels and inputs, and words of constants, at least one each. */
    static Kernel transform() {
        String name = "kiln_winograd_weights";
        return Kernel.of(
                name,
                List.of(Kernel.Pointer.out(INT8), Kernel.Pointer.in(INT32)),
                2,
                (out, html) -> Jtedsp_winograd_weightsGenerated.render(out, html, name));
    }

    /** The transformed table. */
    static int[] pack(ConvComputation conv, DspRequantize rescale) {
        List<Integer> words = new ArrayList<>();
        for (int first = 0; first < conv.channels(); first += BLOCK) {
            int o = Math.min(first, conv.channels() - BLOCK);
            for (int product = 0; product < 4; product++) {
                putProduct(conv, o, product, words);
                if (product >= 2) {
                    for (int c = o; c < o + BLOCK; c++) {
                        rescale.put(c, words);
                    }
                }
            }
        }
        return words.stream().mapToInt(Integer::intValue).toArray();
    }

    private static void putProduct(ConvComputation conv, int firstChannel, int product, List<Integer> words) {
        for (int ky = 0; ky < 3; ky++) {
            for (int i = 0; i < DspWinogradInput.filled(conv.input().dim(3)); i += 4) {
                for (int half = 0; half < 2; half++) {
                    for (int o = firstChannel; o < firstChannel + BLOCK; o++) {
                        int low = transformed(conv, o, ky, i + half, product);
                        int high = transformed(conv, o, ky, i + half + 2, product);
                        words.add((low & 0xFFFF) | (high << 16));
                    }
                }
            }
        }
    }

    /** The factor of m1, m2, m0 or m3. */
    private static int transformed(ConvComputation conv, int o, int ky, int place, int product) {
        int c = DspWinogradInput.inputAt(place, conv.input().dim(3));
        if (c < 0) {
            return 0;
        }
        int g0 = conv.tap(o, ky, 0, c);
        int g1 = conv.tap(o, ky, 1, c);
        int g2 = conv.tap(o, ky, 2, c);
        int factor = switch (product) {
            case 0 -> g0 + g1 + g2;
            case 1 -> g0 - g1 + g2;
            case 2 -> 2 * g0;
            default -> -2 * g2;
        };
        return factor << ROOM_BITS;
    }

    /**
     * The kernel that makes the factors of {@link DspWinogradSchedule} from one row of six columns: four pixels, the second two of which begin two
     * columns later.
     *
     * <p>If the number of inputs is not a multiple of four, the last four overlap the ones before.
     *
     * @param channels inputs of a column, at least four
     * @param isShort whether inputs take a loop rather than straight code
     * @param isPaired see {@link DspConvShape}; where the offset reaches
     * @param lines rows of which the factors of a kind follow each other
     */
    public record DspWinogradInput(int channels, boolean isShort, boolean isPaired, int lines) {
        private static final int ROWS = 3;
        private static final int FACTORS = 4;

        /** Inputs that have factors, in fours. */
        public static int filled(int channels) {
            return (channels + 3) / 4 * 4;
        }

        /** The input of a place among the {@link #filled} ones; -1 if a place before has it already. */
        static int inputAt(int place, int channels) {
            int whole = channels / 4 * 4;
            int over = filled(channels) - channels;
            return place < whole ? place : place - whole < over ? -1 : place - over;
        }

        /** Bytes of scratch of one kind of factors of a row. */
        int rowBytes() {
            return 4 * filled(channels);
        }

        /** Bytes from a kind of factors to the next. */
        public int factorBytes() {
            return lines * rowBytes();
        }

        /** Bytes of scratch of the factors of four pixels. */
        int bytes() {
            return FACTORS * factorBytes();
        }

        Kernel kernel() {
            return Kernel.of(
                    name(),
                    List.of(Kernel.Pointer.out(INT8), Kernel.Pointer.in(INT8), Kernel.Pointer.in(INT8)),
                    3,
                    (out, html) -> Jtedsp_winograd_inputGenerated.render(out, html, name(), this));
        }

        private String name() {
            return "kiln_winograd_input_" + channels + (isShort ? "_short" : "") + (isPaired ? "_paired" : "")
                    + (lines == ROWS ? "" : "_lines" + lines);
        }
    }
}
