// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import static io.kiln.tir.Exprs.imm;

import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;

/** Runs of neighbouring pixels that are computed together. */
public final class PixelBlocks {
    private PixelBlocks() {}

    /**
     * The block size that wastes the fewest pixels, the largest of several, at most a given number and no wider than
     * the row.
     */
    public static int best(int width, int most) {
        int best = 1;
        double least = Double.MAX_VALUE;
        for (int pixels = Math.min(most, width); pixels >= 1; pixels--) {
            // The loads of a block cost about as much as half of a pixel's own work.
            double cost = Math.ceil((double) width / pixels) * (pixels + 0.5);
            if (cost < least) {
                least = cost;
                best = pixels;
            }
        }
        return best;
    }

    /** Loops over blocks of a row; the last one overlaps the one before if the width is not a multiple of the block. */
    public static void loop(BlockBuilder block, int width, int pixels, BlockBuilder.LoopBody body) {
        loop(block, imm(0), imm(width), pixels, body);
    }

    /** Loops over blocks of a run of at least one block of pixels. */
    public static void loop(BlockBuilder block, Expr begin, Expr end, int pixels, BlockBuilder.LoopBody body) {
        boolean divides = Exprs.sub(end, begin) instanceof Expr.IntImm count && count.value() % pixels == 0;
        block.loop("x", begin, end, pixels, (inner, x) -> {
            Expr first = divides ? x : inner.let("first", Exprs.min(x, Exprs.sub(end, imm(pixels))));
            body.emit(inner, first);
        });
    }
}
