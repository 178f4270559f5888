// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import io.kiln.base.DType;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.BlockDense;
import io.kiln.lower.Tables;
import io.kiln.tir.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The weights of a {@link BlockDense} as {@code dense/blocks} reads them, filled up with zeros to blocks of four units and steps of four inputs.
 *
 * <pre>
 * weights: [four units][block][step of four inputs][two inputs][unit], a byte for each, the first input in its lower half;
 *          of more than four bits [four units][block][step][input][unit]
 * scales, zero points: [four units][block][unit]
 * </pre>
 */
record BlockWeights(BlockDense op, Constant weights, Constant scales, Constant zeroPoints) {
    /** Units that are computed together. */
    static final int UNITS = 4;

    /** Inputs of a step. */
    static final int STEP = 4;

    private static final int LEAST = -8;
    private static final int MOST = 7;

    /**
     * Blocks of equal length.
     *
     * @param first block
     * @param count their number
     * @param length inputs of each
     */
    record Part(int first, int count, int length) {
        /** Steps of a block. */
        int steps() {
            return (length + STEP - 1) / STEP;
        }
    }

    static BlockWeights of(Binding root) {
        return new BlockWeights((BlockDense) root.op(), root.constant(1), root.constant(2), root.constant(3));
    }

    int depth() {
        return weights.type().shape().dim(1);
    }

    /** The blocks of a row, of which the last one may be shorter. */
    List<Part> parts() {
        int whole = depth() / op.block();
        int rest = depth() % op.block();
        List<Part> parts = new ArrayList<>();
        if (whole > 0) {
            parts.add(new Part(0, whole, op.block()));
        }
        if (rest > 0) {
            parts.add(new Part(whole, 1, rest));
        }
        return parts;
    }

    /** Whether inputs must be copied to a place where each block begins at a whole step: there is something between the blocks, or behind them. */
    boolean areUneven() {
        return parts().stream().anyMatch(part -> part.length % STEP != 0);
    }

    /** Groups of units. */
    int groups() {
        return (op.units() + UNITS - 1) / UNITS;
    }

    /** Bits of a stored weight. */
    int bits() {
        return IntStream.range(0, weights.elements())
                        .allMatch(i -> weights.integer(i) >= LEAST && weights.integer(i) <= MOST)
                ? 4
                : 8;
    }

    boolean haveZeroPoints() {
        return IntStream.range(0, zeroPoints.elements()).anyMatch(i -> zeroPoints.real(i) != 0);
    }

    private int weight(int unit, int input, int end) {
        return unit < op.units() && input < end ? (int) weights.integer(unit * depth() + input) : 0;
    }

    /** The table of a part's weights. */
    Buffer table(Part part, String name, Tables tables) {
        int shared = Byte.SIZE / bits();
        List<Integer> words = new ArrayList<>();
        for (int unit = 0; unit < UNITS * groups(); unit += UNITS) {
            for (int block = part.first; block < part.first + part.count; block++) {
                int begin = block * op.block();
                for (int k = 0; k < STEP * part.steps(); k += shared) {
                    words.add(word(unit, begin + k, shared, begin + part.length));
                }
            }
        }
        return tables.add(name, DType.INT32, words.stream().mapToInt(w -> w).toArray());
    }

    /** The weights of four units for one input, or for two. */
    private int word(int unit, int input, int shared, int end) {
        int word = 0;
        for (int u = UNITS - 1; u >= 0; u--) {
            int first = weight(unit + u, input, end);
            int all = shared == 1 ? first & 0xFF : (first & 0xF) | (weight(unit + u, input + 1, end) & 0xF) << 4;
            word = word << Byte.SIZE | all;
        }
        return word;
    }

    /** The table of a part's scales, or of its zero points. */
    Buffer parameters(Part part, Constant of, String name, Tables tables) {
        float[] all = new float[UNITS * groups() * part.count];
        int blocks = of.type().shape().dim(1);
        for (int i = 0; i < all.length; i++) {
            int unit = i / (UNITS * part.count) * UNITS + i % UNITS;
            int block = part.first + i / UNITS % part.count;
            all[i] = unit < op.units() ? of.real(unit * blocks + block) : 0;
        }
        return tables.add(name, all);
    }
}
