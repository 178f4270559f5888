// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;

/** The total number of loop iterations allowed in one run of a model, so that an endless loop becomes an error. */
final class LoopBudget {
    /** Far more than a microcontroller computes in a run. */
    static final int USUAL = 1_000_000;

    private final int most;
    private int left;

    LoopBudget(int most) {
        this.most = most;
        this.left = most;
    }

    /** Called before a run. */
    void refill() {
        left = most;
    }

    /**
     * Called before a loop body runs.
     *
     * @param where name of the body
     * @throws KilnException if the budget is used up
     */
    void spend(String where) {
        if (left-- == 0) {
            throw new KilnException(Failure.MODEL.problem(
                    "the loops of the model run more than " + most + " times",
                    where,
                    "loops that end sooner",
                    "Check the condition of the WHILE that calls it"));
        }
    }
}
