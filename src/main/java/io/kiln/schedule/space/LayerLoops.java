// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.space;

import io.kiln.tir.Stmt;

/**
 * A convolution or dense layer as loops.
 *
 * @param body the loops
 * @param executedMacs multiply-accumulates that they execute for all rows
 * @param rowBlock number of rows that are faster to compute together than one by one
 */
public record LayerLoops(Stmt body, long executedMacs, int rowBlock) {

    /** Loops without a preferred number of rows. */
    public LayerLoops(Stmt body, long executedMacs) {
        this(body, executedMacs, 1);
    }
}
