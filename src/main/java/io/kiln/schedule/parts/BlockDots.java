// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.lower.SumKernels;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * Dot products of int8 or int16 values with blocks of rows of int8 weights, in 32 bits. In the table a block's initial values come before its
 * weights: some of each row in turn, filled up with 0.
 *
 * @param kernel pointers: values, table, sums; scalars: number of values, blocks
 * @param weight type of a weight in the table
 * @param rows of a block
 * @param step weights of a row that follow each other
 */
public record BlockDots(Kernel kernel, DType weight, int rows, int step) implements SumKernels.Dots {
    @Override
    public Bytes pack(int all, int count, SumKernels.Weights weights, IntUnaryOperator begin) {
        ByteBuffer data = ByteBuffer.allocate(all * bytes(count)).order(ByteOrder.LITTLE_ENDIAN);
        for (int block = 0; block < all; block += rows) {
            for (int row = block; row < block + rows; row++) {
                data.putInt(begin.applyAsInt(row));
            }
            for (int first = 0; first < count; first += step) {
                for (int row = block; row < block + rows; row++) {
                    for (int place = first; place < first + step; place++) {
                        put(data, place < count ? weights.get(row, place) : 0);
                    }
                }
            }
        }
        return Bytes.wrap(data.array());
    }

    private void put(ByteBuffer data, long value) {
        if (weight == DType.INT16) {
            data.putShort((short) value);
        } else {
            data.put((byte) value);
        }
    }

    /** Bytes of a row: its initial value and its weights. */
    private int bytes(int count) {
        return Integer.BYTES + (count + step - 1) / step * step * weight.bytes();
    }

    @Override
    public void emit(BlockBuilder code, SumKernels.Block block, Buffer values, Expr from, Buffer sums) {
        code.call(
                kernel,
                List.of(
                        code.view("x", values, from),
                        code.view("rows", block.weights(), Exprs.mul(block.first(), bytes(block.count()))),
                        sums),
                List.of(Exprs.imm(block.count()), Exprs.imm(block.rows() / rows)));
    }
}
