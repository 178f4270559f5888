// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.base.Bytes;
import io.kiln.kernels.recurrent.Jtedsp_sumsGenerated;
import io.kiln.lower.SumKernels;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * The kernel {@code recurrent/dsp_sums}: dot products of an int8 vector with blocks of eight rows, doubled.
 *
 * @param form of the weights
 */
public record DspSums(Form form) implements SumKernels.Dots {
    /** How weights lie in memory. */
    public enum Form {
        /** A halfword is {@code 256 * first + second}, for which sums and weights must leave room. */
        PAIRED("kiln_sums_"),
        /** The bytes of a halfword are the weights of two rows. */
        BYTES("kiln_sums_bytes_"),
        /** A halfword is a weight; computed weights only, which {@link PanelKernels.DspPanelSums} packs. */
        WIDE("kiln_sums_wide_");

        private final String prefix;

        Form(String prefix) {
            this.prefix = prefix;
        }
    }

    private static final int ROWS = 8;

    /** Steps of four values that a loop unrolls; up to twice as many need no loop. */
    private static final int UNROLL = 4;

    /**
     * How a row's values are taken.
     *
     * @param first steps of four before the loop
     * @param loops whether there is a loop
     * @param hasTail whether one to three values remain
     */
    private record Steps(int first, boolean loops, boolean hasTail) {
        static Steps of(int count) {
            int steps = count / 4;
            boolean loops = steps > 2 * UNROLL;
            return new Steps(loops ? steps % UNROLL : steps, loops, count % 4 != 0);
        }
    }

    @Override
    public int rows() {
        return ROWS;
    }

    @Override
    public Bytes pack(int rows, int count, SumKernels.Weights weights, IntUnaryOperator begin) {
        ByteBuffer data = ByteBuffer.allocate(rows * bytes(count)).order(ByteOrder.LITTLE_ENDIAN);
        for (int block = 0; block < rows; block += ROWS) {
            for (int row = block; row < block + ROWS; row += 2) {
                int first = begin.applyAsInt(row);
                int second = begin.applyAsInt(row + 1);
                data.putInt(isPaired() ? 256 * first + second : first).putInt(second);
            }
            for (int four = 0; four < count; four += 4) {
                for (int row = block; row < block + ROWS; row += 2) {
                    for (int place : new int[] {four, four + 2, four + 1, four + 3}) {
                        long first = place < count ? weights.get(row, place) : 0;
                        long second = place < count ? weights.get(row + 1, place) : 0;
                        data.putShort((short) (isPaired() ? 256 * first + second : 256 * first + (second & 0xff)));
                    }
                }
            }
        }
        return Bytes.wrap(data.array());
    }

    /** Bytes of a row: its initial value and its weights. */
    int bytes(int count) {
        return Integer.BYTES + (count + 3) / 4 * (form == Form.WIDE ? 8 : 4);
    }

    private boolean isPaired() {
        return form == Form.PAIRED;
    }

    @Override
    public void emit(BlockBuilder code, SumKernels.Block block, Buffer values, Expr from, Buffer sums) {
        code.call(
                kernel(Steps.of(block.count())),
                List.of(
                        code.view("x", values, from),
                        code.view("rows", block.weights(), Exprs.mul(block.first(), bytes(block.count()))),
                        sums),
                List.of(Exprs.imm(block.count()), Exprs.imm(block.rows() / ROWS)));
    }

    private Kernel kernel(Steps steps) {
        String name = form.prefix + steps.first + (steps.loops ? "_" + UNROLL : "") + (steps.hasTail ? "_tail" : "");
        return Kernel.of(
                name,
                Pointer.lastWritten(INT8, INT8, INT32),
                2,
                (out, html) -> Jtedsp_sumsGenerated.render(
                        out, html, name, form, steps.first, steps.loops ? UNROLL : 0, steps.hasTail));
    }
}
