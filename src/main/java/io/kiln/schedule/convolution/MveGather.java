// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.ir.op.Window;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.function.IntUnaryOperator;

/** Copies windows to scratch as runs of bytes, for the rows of a matrix product on MVE. */
public sealed interface MveGather permits MveColumns, MveBand {
    /** Limit for copied bytes, if at least two pixels fit. */
    int MOST_SCRATCH = 2048;

    /** Instructions of a kernel's call, counted. */
    int CALL = 20;

    /** Name of the method. */
    String title();

    /** Pixels of a row whose windows are in scratch together. */
    int chunk();

    /** Bytes of scratch that are written. */
    int scratchBytes();

    /** Bytes between the windows of neighbouring pixels. */
    int step();

    /** Position in the weights of byte {@code i} of a window. */
    int weightIndex(int channel, int i);

    /** Emits the code that runs once for an output row. */
    void startRow(BlockBuilder block, Place place);

    /** Emits the copying of the windows of pixels from x on; returns the first one. */
    Buffer windows(BlockBuilder block, Place place, int x, int pixels);

    /**
     * An output row, and the buffers.
     *
     * @param n image of the batch
     * @param top input row of the window's first row, which may lie outside
     */
    record Place(Rows rows, Buffer input, Buffer scratch, Expr n, Expr top) {}

    /** The method with fewer instructions, counted for 16 pixels of a window's row. */
    static MveGather of(ConvComputation conv) {
        Window w = conv.window();
        int channels = conv.input().dim(3);
        int run = w.kernelW() * channels;
        int columns = 16 * w.strideW() * MveCopy.cost(channels);
        int copyRow = 3 * w.strideW() * channels + 16 * CALL / conv.output().dim(2);
        int band = 16 * MveCopy.cost(run) + copyRow;
        boolean isDilated = w.dilationW() > 1 && w.kernelW() > 1;
        return isDilated || (run <= MveCopy.MOST_RUN && band < columns) ? MveBand.of(conv) : MveColumns.of(conv);
    }

    /** Largest number of pixels, in equal chunks of a row, for which a size stays within the limit; at least two. */
    static int chunk(int width, IntUnaryOperator bytes) {
        int chunks = 1;
        while (bytes.applyAsInt((width + chunks - 1) / chunks) > MOST_SCRATCH && width > 2 * chunks) {
            chunks++;
        }
        return (width + chunks - 1) / chunks;
    }

    /** Columns of the padded input under the windows of neighbouring pixels. */
    static int columns(ConvComputation conv, int pixels) {
        return (pixels - 1) * conv.window().strideW() + conv.window().spanW();
    }

    /** Whether an input row lies inside the input. */
    static Expr isInside(ConvComputation conv, Expr row) {
        return Exprs.and(
                Exprs.gt(row, Exprs.imm(-1)),
                Exprs.lt(row, Exprs.imm(conv.input().dim(1))));
    }

    /** Element of the input at which a row begins. */
    static Expr inputRow(ConvComputation conv, Rows rows, Expr n, Expr row) {
        Expr line = Exprs.add(Exprs.mul(n, conv.input().dim(1)), rows.inputLine(0, row));
        return Exprs.mul(line, (long) conv.input().dim(2) * conv.input().dim(3));
    }
}
