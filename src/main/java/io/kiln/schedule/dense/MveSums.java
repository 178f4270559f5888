// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.kernels.recurrent.Jtemve_sumsGenerated;
import io.kiln.lower.PanelSums;
import io.kiln.lower.SumKernels;
import io.kiln.schedule.parts.PanelPacking;
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

/** Dot products of an int8 vector with blocks of four rows by VMLADAVA, 16 weights of each in turn. */
record MveSums() implements SumKernels.Dots, PanelSums {
    private static final int ROWS = 4;
    private static final int STEP = 16;

    private static final PanelPacking PANEL = new PanelPacking(ROWS, STEP, STEP + " * column", "i", "value");

    private static final Kernel DOTS = kernel("kiln_mve_sums", INT8);

    /** The kernel for vectors of int8 or int16: the vector, blocks of weights, sums; number of values, number of blocks. */
    static Kernel kernel(String name, DType data) {
        return Kernel.of(
                name,
                List.of(Pointer.in(data), Pointer.in(INT8), Pointer.out(INT32)),
                2,
                (out, html) -> Jtemve_sumsGenerated.render(out, html, name, data == INT8));
    }

    @Override
    public int rows() {
        return ROWS;
    }

    private static int padded(int count) {
        return (count + STEP - 1) / STEP * STEP;
    }

    @Override
    public Bytes pack(int rows, int count, SumKernels.Weights weights, IntUnaryOperator begin) {
        ByteBuffer data = ByteBuffer.allocate(rows * bytes(count)).order(ByteOrder.LITTLE_ENDIAN);
        for (int first = 0; first < rows; first += ROWS) {
            for (int row = first; row < first + ROWS; row++) {
                data.putInt(begin.applyAsInt(row));
            }
            for (int i = 0; i < padded(count) * ROWS; i++) {
                int place = i / (ROWS * STEP) * STEP + i % STEP;
                data.put(place < count ? (byte) weights.get(first + i / STEP % ROWS, place) : 0);
            }
        }
        return Bytes.wrap(data.array());
    }

    @Override
    public int columns() {
        return ROWS;
    }

    @Override
    public int bytes(int count) {
        return PANEL.bytes(count);
    }

    @Override
    public void pack(BlockBuilder code, Columns columns, Buffer values, Buffer panel) {
        PANEL.emit(code, columns, values, panel);
    }

    @Override
    public void emit(BlockBuilder code, SumKernels.Block block, Buffer values, Expr from, Buffer sums) {
        code.call(
                DOTS,
                List.of(
                        code.view("x", values, from),
                        code.view("rows", block.weights(), Exprs.mul(block.first(), bytes(block.count()))),
                        sums),
                List.of(Exprs.imm(block.count()), Exprs.imm(block.rows() / ROWS)));
    }
}
