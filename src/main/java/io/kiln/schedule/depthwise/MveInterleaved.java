// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.kernels.movement.Jtemve_interleaveGenerated;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.MveCopy;
import io.kiln.schedule.convolution.MveGather;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The inputs of {@link MveDepthwiseSchedule} and {@link MveTileSchedule} in scratch: four values of a channel that windows multiply together are one word.
 *
 * <pre>
 * windows of several rows   [four rows of the window][column, padding included][channel][row]; the words of a patch go by columns
 * windows of one row        [column, padding included][channel][this column and the three next ones under a window], then the row
 *                           with its padding
 * </pre>
 *
 * @param conv the convolution
 * @param tile rows, and columns, of results whose windows are one patch; 1 unless strides and dilations are 1 and windows have several rows
 */
record MveInterleaved(ConvComputation conv, int tile) {
    /** Bytes of a word. */
    private static final int WORD = 4;

    /** Rows of more bytes are processed in parts. */
    private static final int MOST_SCRATCH = 16 * 1024;

    /** Whole vectors are written, four at a time, the last one past the end. */
    private static final int PAST_END = 64;

    /** An output row, and the buffers. */
    record Place(Rows rows, Buffer input, Buffer scratch, Expr n, Expr y) {}

    /** Whether words hold neighbours of a row. */
    private boolean isRow() {
        Window w = conv.window();
        return w.kernelH() == 1 && w.kernelW() > 1;
    }

    private int channels() {
        return conv.input().dim(3);
    }

    /** Rows under a patch. */
    private int lines() {
        return conv.window().kernelH() + tile - 1;
    }

    /** Columns under a patch, but for dilations. */
    private int columns() {
        return conv.window().kernelW() + tile - 1;
    }

    /** Fours of rows under a patch. */
    private int bands() {
        return (lines() + WORD - 1) / WORD;
    }

    /** Words of a patch. */
    int words() {
        return isRow() ? (columns() + WORD - 1) / WORD : bands() * columns();
    }

    /** Pixels of a row whose inputs are in scratch together: as many as fit, in equal chunks, and a tile at least. */
    int chunk() {
        int width = conv.output().dim(2);
        int chunks = 1;
        while (bytes((width + chunks - 1) / chunks) > MOST_SCRATCH && chunks < width) {
            chunks++;
        }
        return Math.max(tile, (width + chunks - 1) / chunks);
    }

    /** Bytes of scratch. */
    int scratchBytes() {
        return bytes(chunk()) + PAST_END;
    }

    private int bytes(int pixels) {
        int row = isRow() ? PAST_END + rowColumns(pixels) * channels() : 0;
        return bands() * bandBytes(pixels) + row;
    }

    private int bandBytes(int pixels) {
        int columns =
                isRow() ? rowColumns(pixels) - (WORD - 1) * conv.window().dilationW() : MveGather.columns(conv, pixels);
        return columns * channels() * WORD;
    }

    /** Columns of a row with its padding, under whole words of windows. */
    private int rowColumns(int pixels) {
        Window w = conv.window();
        return (pixels - 1) * w.strideW() + (words() * WORD - 1) * w.dilationW() + 1;
    }

    /** Bytes between windows. */
    int step() {
        return conv.window().strideW() * channels() * WORD;
    }

    /** Positions of words of a patch, relative to its first one; missing words repeat that. */
    int[] offsets(int count) {
        return IntStream.range(0, count).map(k -> k < words() ? offset(k) : 0).toArray();
    }

    private int offset(int k) {
        Window w = conv.window();
        if (isRow()) {
            return k * WORD * w.dilationW() * channels() * WORD;
        }
        int column = k / bands() * w.dilationW();
        return k % bands() * bandBytes(chunk()) + column * channels() * WORD;
    }

    /** Whether words of a patch fill vectors of so many, which are all alike: equally many columns of all rows. */
    boolean isEven(int vector) {
        return !isRow() && words() % vector == 0 && vector % bands() == 0;
    }

    /** The weight of byte {@code i} of a patch for the window so many rows and columns behind the first; 0 where there is no tap or channel. */
    int weight(int channel, int i, int down, int right) {
        Window w = conv.window();
        int ky = isRow() ? 0 : i / WORD % bands() * WORD + i % WORD - down;
        int kx = isRow() ? i : i / WORD / bands() - right;
        boolean there = channel < conv.channels() && ky >= 0 && kx >= 0 && ky < w.kernelH() && kx < w.kernelW();
        return there ? conv.tap(channel, ky, kx, 0) : 0;
    }

    /** Emits the copying of the inputs of pixels from {@code x} on. */
    void copy(BlockBuilder block, Place place, int x, int pixels) {
        Window w = conv.window();
        int first = x * w.strideW() - w.padLeft();
        int count = isRow() ? rowColumns(pixels) : MveGather.columns(conv, pixels);
        int left = Math.min(count, Math.max(0, -first));
        int inside = Math.max(0, Math.min(count - left, conv.input().dim(2) - first - left));
        Columns columns = new Columns(first + left, left, inside, count - left - inside);
        if (isRow()) {
            row(block, place, columns, pixels);
        } else {
            bands(block, place, columns);
        }
    }

    /** Columns of the input that are copied, and those of the padding on both sides. */
    private record Columns(int first, int left, int inside, int right) {}

    private void bands(BlockBuilder block, Place place, Columns columns) {
        for (int band = 0; band < (columns.inside > 0 ? bands() : 0); band++) {
            interleave(block, place, band, columns);
        }
        int bandBytes = bandBytes(chunk());
        for (int band = 0; band < bands(); band++) {
            sides(block, place, String.valueOf(band), band * bandBytes, columns, channels() * WORD);
        }
    }

    /** Fills the padding on both sides. */
    private void sides(BlockBuilder block, Place place, String suffix, int start, Columns columns, int column) {
        int zero = conv.inputZeroPoint();
        MveCopy.fill(block, "left" + suffix, place.scratch, start, columns.left * column, zero);
        int end = start + (columns.left + columns.inside) * column;
        MveCopy.fill(block, "right" + suffix, place.scratch, end, columns.right * column, zero);
    }

    private void interleave(BlockBuilder block, Place place, int band, Columns columns) {
        Window w = conv.window();
        int count = Math.min(WORD, lines() - WORD * band);
        List<Expr> scalars = new ArrayList<>();
        scalars.add(imm((long) columns.inside * channels()));
        scalars.add(imm(conv.inputZeroPoint()));
        for (int i = 0; i < count; i++) {
            int ky = WORD * band + i;
            Expr row = inputRow(place, ky);
            Expr from = inputPlace(place, row, columns.first);
            boolean isPadded = w.padTop() + w.padBottom() > 0 || tile > 1;
            scalars.add(block.let(
                    "row" + ky, isPadded ? Exprs.select(MveGather.isInside(conv, row), from, imm(-1)) : from));
        }
        int start = band * bandBytes(chunk()) + columns.left * channels() * WORD;
        Buffer to = block.mutableView("band" + band, place.scratch, imm(start));
        block.call(kernel(count), List.of(place.input, to), scalars);
    }

    private Expr inputRow(Place place, int ky) {
        Window w = conv.window();
        return sub(mul(place.y, w.strideH()), imm(w.padTop() - (long) ky * w.dilationH()));
    }

    private Expr inputPlace(Place place, Expr row, int column) {
        return add(MveGather.inputRow(conv, place.rows, place.n, row), (long) column * channels());
    }

    /** The row with its padding, then four copies of it side by side, each begun a tap later. */
    private void row(BlockBuilder block, Place place, Columns columns, int pixels) {
        Window w = conv.window();
        int start = bandBytes(chunk()) + PAST_END;
        sides(block, place, "", start, columns, channels());
        int to = start + columns.left * channels();
        int bytes = columns.inside * channels();
        Expr row = inputRow(place, 0);
        if (w.padTop() + w.padBottom() > 0 && bytes > 0) {
            block.ifThenElse(
                    MveGather.isInside(conv, row),
                    b -> copyRow(b, place, row, columns, to),
                    b -> MveCopy.fill(b, "outside", place.scratch, to, bytes, conv.inputZeroPoint()));
        } else if (bytes > 0) {
            copyRow(block, place, row, columns, to);
        }
        List<Expr> scalars = new ArrayList<>();
        scalars.add(imm(bandBytes(pixels) / WORD));
        scalars.add(imm(conv.inputZeroPoint()));
        for (int k = 0; k < WORD; k++) {
            scalars.add(imm((long) k * w.dilationW() * channels()));
        }
        Buffer from = block.view("padded", place.scratch, imm(start));
        Buffer words = block.mutableView("words", place.scratch, imm(0));
        block.call(kernel(WORD), List.of(from, words), scalars);
    }

    private void copyRow(BlockBuilder block, Place place, Expr row, Columns columns, int to) {
        Buffer from = block.view("row", place.input, inputPlace(place, row, columns.first));
        Buffer target = block.mutableView("target", place.scratch, imm(to));
        block.call(MveCopy.COPY, List.of(from, target), List.of(imm((long) columns.inside * channels())));
    }

    /** {@code interleave(from, to, bytes, zero_point, row0, ...)}: rows begin at offsets, which are negative outside the input. */
    private static Kernel kernel(int rows) {
        String name = "kiln_mve_interleave_" + rows;
        return Kernel.of(
                name,
                Pointer.lastWritten(DType.INT8, DType.INT8),
                2 + rows,
                (out, html) -> Jtemve_interleaveGenerated.render(out, html, name, rows));
    }
}
