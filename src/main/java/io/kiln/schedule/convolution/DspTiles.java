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
    /**
     * Pairs of a tile of a layer that reads each pixel alone: all, or those of as many rows as possible, an even number of them where their
     * pixels are odd, or those of an equal part of a row.
     *
     * @param most the most pairs, at least one
     */
    static int ofRows(ConvComputation conv, int most) {
        int width = conv.output().dim(2);
        int all = conv.output().dim(1) * width / 2;
        if (all <= most) {
            return all;
        }
        int pairs = width % 2 != 0 && width <= most ? width : width / 2;
        if (pairs <= most) {
            return most / pairs * pairs;
        }
        int parts = (pairs + most - 1) / most;
        return (pairs + parts - 1) / parts;
    }

    /** Bytes of scratch. */
    long scratchBytes() {
        return tile.copyBytes() + (long) pairs * tile.windowBytes();
    }

    /** Rows that a tile covers, if they are contiguous; an even number of them where their pixels are odd, or one. */
    int rows() {
        int width = conv.output().dim(2);
        if (width % 2 == 0) {
            return Math.max(1, 2 * pairs / width);
        }
        return conv.isFlat() ? Math.max(1, pairs / width * 2) : 1;
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
     * All pairs of pixels of a layer that reads each pixel alone, from pixels that follow each other.
     *
     * @param count pixels; a last one of an odd number remains
     * @param from the first pixel of the input
     * @param to the same of the output
     */
    void flat(BlockBuilder block, Places places, Expr count, Expr from, Expr to) {
        Range range = new Range(imm(0), div(count, imm(2)));
        tiles(block, range, places, to, (pair, window, at) -> {
            Expr pixel = add(from, mul(at, 2));
            window.gatherFlat(pair, pixel, add(pixel, 1), imm(0));
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
        boolean divides = sub(range.end, range.begin) instanceof Expr.IntImm count && count.value() % pairs == 0;
        block.loop("tile", range.begin, range.end, pairs, (each, first) -> {
            Expr count = divides ? imm(pairs) : each.let("count", min(imm(pairs), sub(range.end, first)));
            each.loop("i", imm(0), count, (pair, i) -> {
                Expr at = add(mul(i, tile.windowBytes()), tile.copyBytes());
                Buffer window = pair.mutableView("window", places.scratch, at);
                gather.emit(pair, new DspWindow(conv, places.input, window), add(first, i));
            });
            Buffer out = each.mutableView("out", places.output, mul(add(to, mul(first, 2)), conv.channels()));
            int blocks = conv.channels() / tile.shape().channels();
            List<Expr> scalars = new ArrayList<>(List.of(imm(blocks), count));
            scalars.addAll(tile.epilogue().arguments());
            each.call(tile.kernel(), List.of(places.scratch, places.weights, out), scalars);
        });
    }
}
