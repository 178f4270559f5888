// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;

/** The broker cannot be reached, or not any more. It may be back later. */
public final class FarmLost extends KilnException {
    private static final long serialVersionUID = 1L;

    private final boolean isAbsent;

    /**
     * @param problem why, and what to do
     * @param isAbsent whether there is just no broker now
     */
    FarmLost(Problem problem, boolean isAbsent, Throwable cause) {
        super(problem, cause);
        this.isAbsent = isAbsent;
    }

    /** Whether there is just no broker now, so that waiting may help; false if it or this member has to be changed. */
    public boolean isAbsent() {
        return isAbsent;
    }

    /** A connection that ended. */
    static FarmLost later(String url, Throwable cause) {
        return new FarmLost(
                Failure.FARM.problem("the connection to the farm's broker was lost: " + cause.getMessage(), url),
                true,
                cause);
    }
}
