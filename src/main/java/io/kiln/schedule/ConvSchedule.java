// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.tir.Stmt;
import java.util.Optional;

/**
 * A convolution or dense layer as loops.
 *
 * @param body the loops
 * @param executedMacs multiply-accumulates that they execute for all rows
 * @param text name of the schedule with its knobs
 * @param reason why this one, for people
 * @param rowBlock rows that it computes faster together than one by one
 */
record ConvSchedule(Stmt body, long executedMacs, String text, String reason, int rowBlock) {

    /** A schedule that takes rows one by one. */
    ConvSchedule(Stmt body, long executedMacs, String text, String reason) {
        this(body, executedMacs, text, reason, 1);
    }

    /** One way to schedule convolutions and dense layers. */
    @FunctionalInterface
    interface Candidate {
        /** The schedule, or nothing where it does not suit. */
        Optional<ConvSchedule> tryOn(ConvTask task);
    }
}
