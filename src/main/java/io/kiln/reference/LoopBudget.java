// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;

/** How often the bodies of a model's loops may run in one run, all together: a loop that never ends is told and not waited for. */
final class LoopBudget {
    /** Far beyond what a microcontroller does in a run. */
    static final int USUAL = 1_000_000;

    private final int most;
    private int left;

    LoopBudget(int most) {
        this.most = most;
        this.left = most;
    }

    /** Before a run. */
    void refill() {
        left = most;
    }

    /**
     * Before a body runs.
     *
     * @param where its name
     * @throws KilnException if it may not
     */
    void spend(String where) {
        if (left-- == 0) {
            throw new KilnException(new Problem(
                    "the loops of the model run more than " + most + " times",
                    where,
                    "loops that end sooner",
                    "Check the condition of the WHILE that calls it"));
        }
    }
}
