// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.Bytes;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import java.util.List;

/**
 * Dot products of an int8 vector with {@link #ROWS} rows of int8 weights, by a micro-kernel of the core: {@code kernel(x, w, sums, count)}
 * adds them to sums of 32 bits.
 *
 * @param kernel the micro-kernel
 * @param step number of weights of one row that are adjacent in the table; rows are padded to a multiple with 0
 */
public record RowDots(Kernel kernel, int step) {
    /** Number of rows computed together. */
    public static final int ROWS = 4;

    /** A weight by row and position; the number of rows is a multiple of {@link #ROWS}. */
    @FunctionalInterface
    public interface Weights {
        long get(int row, int place);
    }

    /** The {@code count} elements of a buffer that begin at a place. */
    public record Vector(Buffer values, Expr from, int count) {}

    private int steps(int count) {
        return (count + step - 1) / step;
    }

    /** The table of rows of {@code count} weights. */
    public Bytes pack(int rows, int count, Weights weights) {
        byte[] packed = new byte[rows * steps(count) * step];
        int at = 0;
        for (int first = 0; first < rows; first += ROWS) {
            for (int i = 0; i < steps(count) * ROWS * step; i++) {
                int place = i / (ROWS * step) * step + i % step;
                packed[at++] = place < count ? (byte) weights.get(first + i / step % ROWS, place) : 0;
            }
        }
        return Bytes.wrap(packed);
    }

    /**
     * Emits a call.
     *
     * @param name prefix of what is declared
     * @param group which rows of the table, as a multiple of {@link #ROWS}
     */
    public void emit(BlockBuilder block, String name, Buffer table, Expr group, Vector vector, Buffer sums) {
        Buffer x = block.view(name + "_x", vector.values, vector.from);
        Buffer w = block.view(name + "_w", table, Exprs.mul(group, (long) steps(vector.count) * ROWS * step));
        block.call(kernel, List.of(x, w, sums), List.of(Exprs.imm(vector.count)));
    }
}
