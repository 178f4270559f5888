// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.space;

import io.kiln.tir.Stmt;

/**
 * A convolution or dense layer as loops.
 *
 * @param body the loops
 * @param executedMacs multiply-accumulates that they execute for all rows
 * @param rowBlock number of rows that are faster to compute together than one by one
 * @param sharing pixels that one traversal of the weights serves
 */
public record LayerLoops(Stmt body, long executedMacs, int rowBlock, long sharing) {

    /** Loops without a preferred number of rows. */
    public LayerLoops(Stmt body, long executedMacs) {
        this(body, executedMacs, 1);
    }

    /** Loops that traverse the weights for each pixel. */
    public LayerLoops(Stmt body, long executedMacs, int rowBlock) {
        this(body, executedMacs, rowBlock, 1);
    }

    /** The same loops, of which one traversal of the weights serves some pixels. */
    public LayerLoops sharing(long pixels) {
        return new LayerLoops(body, executedMacs, rowBlock, Math.max(1, pixels));
    }
}
