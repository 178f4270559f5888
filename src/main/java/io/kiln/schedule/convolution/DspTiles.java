// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.div;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.min;
import static io.kiln.tir.Exprs.mod;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.ArrayList;
import java.util.List;

/**
 * The loops over tiles of pairs of pixels: the windows of all pairs are gathered, then {@link DspTile} multiplies them.
 *
 * @param conv the layer
 * @param tile the kernel
 * @param pairs most pairs of a tile, at least two
 */
record DspTiles(ConvComputation conv, DspTile tile, int pairs) {
    /** Bytes of scratch. */
    long scratchBytes() {
        return tile.copyBytes() + (long) pairs * tile.windowBytes();
    }

    /** Rows that a tile covers, if they are contiguous; an even number of them where they are odd, if any. */
    int rows() {
        int width = conv.output().dim(2);
        if (width % 2 == 0) {
            return Math.max(1, 2 * pairs / width);
        }
        return DspWindow.isFlat(conv) ? Math.max(1, pairs / width * 2) : 1;
    }

    /** What a layer reads and writes. */
    record Places(Buffer input, Buffer weights, Buffer output, Buffer scratch) {}

    /**
     * All pixels of a range of rows of an even number of pixels, contiguous in every buffer.
     *
     * @param to pixel of the output at which row 0 would be
     */
    void rows(BlockBuilder block, Places places, Rows rows, Expr n, Expr to) {
        int perRow = conv.output().dim(2) / 2;
        Expr begin = mul(rows.firstLine(conv.output()), perRow);
        Expr end = mul(rows.endLine(conv.output()), perRow);
        Place place = (pair, at) -> {
            Expr y = pair.let("y", div(at, imm(perRow)));
            return new Pixel(y, mul(mod(at, imm(perRow)), 2));
        };
        tiles(
                block,
                new Range(begin, end),
                places,
                to,
                (pair, window, at) -> gather(pair, window, rows, n, place.of(pair, at)));
    }

    /**
     * All pairs of pixels of a row.
     *
     * @param line pixel of the output at which the row begins
     */
    void row(BlockBuilder block, Places places, Rows rows, Expr n, Expr y, Expr line) {
        Range range = new Range(imm(0), imm(conv.output().dim(2) / 2));
        tiles(
                block,
                range,
                places,
                line,
                (pair, window, at) -> gather(pair, window, rows, n, new Pixel(y, mul(at, 2))));
    }

    /**
     * All pixels of a layer that reads each pixel of a plane alone, across the ends of rows. If a pixel is left over, the last tile begins one
     * pixel earlier, and computes that one again.
     *
     * @param begin the first pixel
     * @param end behind the last one, at least two further
     * @param from pixel of the input at which pixel 0 would be
     * @param to the same of the output
     */
    void plane(BlockBuilder block, Places places, Expr begin, Expr end, Expr from, Expr to) {
        boolean isOdd = conv.output().dim(2) % 2 != 0;
        Expr all = div(add(sub(end, begin), isOdd ? 1 : 0), imm(2));
        Expr count = all instanceof Expr.IntImm ? all : block.let("pairs", all);
        each(block, new Range(imm(0), count), (tile, first, pairsOfTile) -> {
            Expr there = add(begin, mul(first, 2));
            Expr pixel = isOdd ? tile.let("pixel", min(there, sub(end, mul(pairsOfTile, 2)))) : there;
            windows(tile, places, pairsOfTile, (pair, window, i) -> {
                Expr source = add(add(from, pixel), mul(i, 2));
                window.gatherFlat(pair, source, add(source, 1), imm(0));
            });
            multiply(tile, places, pairsOfTile, add(to, pixel));
        });
    }

    /** The first pixel of a pair. */
    private record Pixel(Expr y, Expr x) {}

    /** Pairs of a range. */
    private record Range(Expr begin, Expr end) {}

    /** Gives the first pixel of a pair. */
    @FunctionalInterface
    private interface Place {
        Pixel of(BlockBuilder block, Expr pair);
    }

    /** Fills the window of a pair. */
    @FunctionalInterface
    private interface Gather {
        void emit(BlockBuilder block, DspWindow window, Expr pair);
    }

    private static void gather(BlockBuilder block, DspWindow window, Rows rows, Expr n, Pixel pixel) {
        DspWindow.Lines lines = window.lines(block, rows, n, pixel.y);
        window.gather(block, lines, pixel.x, add(pixel.x, 1), imm(0));
    }

    private void tiles(BlockBuilder block, Range range, Places places, Expr to, Gather gather) {
        each(block, range, (tile, first, count) -> {
            windows(tile, places, count, (pair, window, i) -> gather.emit(pair, window, add(first, i)));
            multiply(tile, places, count, add(to, mul(first, 2)));
        });
    }

    /** Emits a tile of a number of pairs. */
    @FunctionalInterface
    private interface Tile {
        void emit(BlockBuilder block, Expr first, Expr count);
    }

    private void each(BlockBuilder block, Range range, Tile body) {
        boolean divides = sub(range.end, range.begin) instanceof Expr.IntImm count && count.value() % pairs == 0;
        block.loop("tile", range.begin, range.end, pairs, (each, first) -> {
            Expr count = divides ? imm(pairs) : each.let("count", min(imm(pairs), sub(range.end, first)));
            body.emit(each, first, count);
        });
    }

    private void windows(BlockBuilder block, Places places, Expr count, Gather gather) {
        block.loop("i", imm(0), count, 1, (pair, i) -> {
            Expr at = add(mul(i, tile.windowBytes()), tile.copyBytes());
            Buffer window = pair.mutableView("window", places.scratch, at);
            gather.emit(pair, new DspWindow(conv, places.input, window), i);
        });
    }

    private void multiply(BlockBuilder block, Places places, Expr count, Expr to) {
        Buffer out = block.mutableView("out", places.output, mul(to, conv.channels()));
        int blocks = conv.channels() / tile.shape().channels();
        List<Expr> scalars = new ArrayList<>(List.of(imm(blocks), count));
        scalars.addAll(tile.epilogue().arguments());
        block.call(tile.kernel(), List.of(places.scratch, places.weights, out), scalars);
    }
}
